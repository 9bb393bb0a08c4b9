/** A spec set with what the others lack: a peripheral for other agents, tools in a scope that reads nothing. */
export const EXTRA = {
  'peripherals/hall.yaml': `
id: hall
purpose: Come in.
tools: [read]
scope: full-codebase
entry: [default, from-any]
exit: { in: vault, down: cellar }
`,
  'peripherals/vault.yaml': `
id: vault
purpose: For the keeper alone.
tools: [read]
scope: full-codebase
entry: [from-hall]
exit: { out: hall }
agents: [keeper]
`,
  'peripherals/cellar.yaml': `
id: cellar
purpose: It is dark here.
tools: [read, bash-readonly, web-fetch]
scope: conversation
entry: [from-hall]
exit: { up: hall }
`,
};
