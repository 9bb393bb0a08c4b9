/** A process of its own that makes one call and prints the report: `engine.ts <root> <tool> <command>`. */
import { detectSandbox } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { shellBackend } from '../../../src/tools/shell/shell-backend.ts';
import { toolCall } from './tool-call.ts';

const [root, tool, command] = process.argv.slice(2) as [string, string, string];
const report = await shellBackend(await detectSandbox()).run(toolCall(root, tool, { command }));
console.log(JSON.stringify(report));
