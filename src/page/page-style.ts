/** The style of the page. `theme="light"` or `theme="dark"` on the element overrides the preference of the browser. */
export const PAGE_STYLE = `
:host{display:block;color-scheme:light dark;height:100vh;height:100dvh;
--ink:light-dark(#1c2430,#e6edf3);--soft:light-dark(#57606a,#9da7b3);--page:light-dark(#fff,#0d1117);--card:light-dark(#f6f8fa,#161b22);--line:light-dark(#d0d7de,#30363d);
--observe:light-dark(#0969da,#58a6ff);--act:light-dark(#a84300,#f0883e);--coordinate:light-dark(#8250df,#bc8cff);--simulate:light-dark(#1b7c83,#76e3ea);--none:light-dark(#6e7781,#8b949e);
--ok:light-dark(#1a7f37,#3fb950);--bad:light-dark(#c0262d,#ff7b72);--warn:light-dark(#8a5a00,#e3b341);--focus:light-dark(#0550ae,#79c0ff);
--ok-back:light-dark(#e6f6ea,#12261a);--bad-back:light-dark(#fff0f0,#2d1517);--warn-back:light-dark(#fff8e5,#2b2414);--pick:light-dark(#ddf0ff,#122d4d);}
:host([theme=light]){color-scheme:light}:host([theme=dark]){color-scheme:dark}
*{box-sizing:border-box}h1,h2,h3,p,ul,dl,dd,pre{margin:0;padding:0}ul{list-style:none}
.page{height:100%;display:flex;flex-direction:column;gap:8px;padding:10px 12px;color:var(--ink);background:var(--page);font:14px/1.4 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;overflow:hidden}
.page.many{overflow:auto}
code,pre,.action,.id{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:.92em}
h2{font-size:12px;font-weight:600;color:var(--soft)}
button,input,select{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:6px;padding:4px 10px;min-height:30px}
button{cursor:pointer}button.yes{background:light-dark(#1a7f37,#238636);border-color:transparent;color:#fff;font-weight:600}
:focus-visible{outline:2px solid var(--focus);outline-offset:1px}
.top{display:flex;align-items:center;gap:10px;flex-wrap:wrap}.top h1{font-size:17px;overflow-wrap:anywhere}.id{color:var(--soft);overflow:hidden;text-overflow:ellipsis}
.badge{margin-left:auto;border:1px solid var(--line);border-radius:99px;padding:1px 10px;font-size:12px;color:var(--soft)}.badge.live{color:var(--ok);border-color:currentColor}.badge.urgent{color:var(--bad);border-color:currentColor;font-weight:600;margin:0}
.trouble{color:var(--bad);background:var(--bad-back);border-radius:6px;padding:6px 10px}
.none{color:var(--soft);padding:16px}
.summary{display:grid;grid-template-columns:minmax(150px,.7fr) 2fr minmax(190px,.9fr);gap:8px}
.answer{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:8px 12px;min-width:0}
.answer .big{font-size:19px;font-weight:650;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.answer .more{color:var(--soft);min-height:1.4em;display:flex;align-items:center;gap:8px;overflow:hidden}.answer.doing .more{display:block;white-space:nowrap;text-overflow:ellipsis}
.answer.doing.refused{background:var(--bad-back);border-color:var(--bad)}.answer.doing.refused .big,.alarm{color:var(--bad)}.answer .remedy{color:var(--ink)}
.answer.doing.failed .big{color:var(--warn)}
.answer.wants.urgent{background:var(--warn-back);border-color:var(--warn)}.answer.wants.urgent .big{color:var(--warn)}
.mode{border-radius:99px;padding:0 9px;font-size:12px;font-weight:600;border:1px solid currentColor;color:var(--observe);text-transform:uppercase}.mode.act{color:var(--act)}.mode.coordinate{color:var(--soft)}
.columns{flex:1;min-height:0;display:grid;grid-template-columns:minmax(300px,5fr) 7fr;gap:12px}
.left{display:flex;flex-direction:column;gap:8px;min-height:0;overflow:auto;container-type:size}.right{display:flex;flex-direction:column;gap:6px;min-height:0;min-width:0}
.graph{max-height:54vh;flex:none;overflow:auto}.graph svg{display:block;width:100%;height:auto;max-height:inherit}
.left:has(.operator[open])>.graph{position:sticky;top:0;z-index:1;background:var(--page);max-height:45cqh}
.node .box{fill:var(--card);stroke:var(--line);stroke-width:1.5}.node text{fill:var(--ink);font-size:17px;font-weight:550}.node .strip{fill:var(--none)}
.node.observe .strip{fill:var(--observe)}.node.act .strip{fill:var(--act)}.node.coordinate .strip{fill:var(--coordinate)}.node.simulate .strip{fill:var(--simulate)}
.node.here .box{fill:var(--ok-back);stroke:var(--ok);stroke-width:3}.node.here text{font-weight:750;font-size:18px}.halo{fill:var(--ok);opacity:.22}
.trail-1 .box{stroke:var(--ok);stroke-width:2.5;stroke-dasharray:5 3}.trail-2 .box{stroke:color-mix(in srgb,var(--ok) 65%,var(--line));stroke-dasharray:4 4}.trail-3 .box,.trail-4 .box{stroke:color-mix(in srgb,var(--ok) 35%,var(--line));stroke-dasharray:3 5}
.arrow path{fill:none;stroke:var(--line);stroke-width:1.5}.arrow .head{fill:var(--line);stroke:none}
.arrow.open path{stroke:var(--ok);stroke-width:2.2}.arrow.open .head{fill:var(--ok)}
.arrow.asks path,.arrow.yours path{stroke:var(--warn);stroke-width:2.2;stroke-dasharray:6 3}.arrow.asks .head,.arrow.yours .head{fill:var(--warn)}
.arrow.closed path{stroke:var(--soft);stroke-dasharray:2 4}.arrow.closed .head{fill:var(--soft)}
.arrow.lit path{stroke:var(--focus);stroke-width:4;stroke-dasharray:10 5;animation:way 1s linear infinite}.arrow.lit .head{fill:var(--focus);stroke:none;animation:none}
@keyframes way{to{stroke-dashoffset:-15}}
@media(prefers-reduced-motion:reduce){.arrow.lit path{animation:none}}
.ways ul ul{margin:2px 0 6px}.way{display:flex;gap:6px;align-items:baseline;padding-left:8px}.way .sign{width:1.4em;text-align:center}.way em{font-style:normal;font-weight:600}.way small{display:block;color:var(--soft)}
.way.open em,.way.open .sign{color:var(--ok)}.way.asks em,.way.yours em,.way.asks .sign,.way.yours .sign{color:var(--warn)}.way.closed em,.way.closed .sign{color:var(--bad)}
.ways>ul{columns:2 220px;column-gap:16px}.ways>ul>li{break-inside:avoid}
.facts dl{display:grid;grid-template-columns:auto 1fr;gap:2px 12px}.facts dl>div{display:contents}dt{color:var(--soft)}dd{overflow-wrap:anywhere}
.search{display:flex;gap:6px}.search input{flex:1;min-width:0}
.rows{flex:1;min-height:120px;overflow:auto;border:1px solid var(--line);border-radius:8px;position:relative}
.whole{position:relative}.row{position:absolute;left:0;right:0;top:0;display:flex;gap:8px;padding:4px 10px 4px 6px;border-left:4px solid transparent;cursor:pointer;white-space:nowrap;overflow:hidden}
.row.visit{border-left-color:var(--none)}.row.visit.observe{border-left-color:var(--observe)}.row.visit.act{border-left-color:var(--act)}.row.visit.coordinate{border-left-color:var(--coordinate)}.row.visit.simulate{border-left-color:var(--simulate)}
.row time{color:var(--soft);font-size:12px;min-width:66px;text-align:right;font-variant-numeric:tabular-nums;line-height:21px}
.row .mark{width:1em;font-weight:700;text-align:center}.row.ok .mark{color:var(--ok)}.row.failed .mark,.row.failed .result,.row.unknown .mark{color:var(--warn)}.row.refused .mark,.row.refused .result{color:var(--bad)}
.row .text{min-width:0;overflow:hidden;text-overflow:ellipsis}.result,.duration{color:var(--soft)}.remedy{color:var(--ink)}.row .remedy{display:block;overflow:hidden;text-overflow:ellipsis}
.row.is-start{padding-top:12px;font-weight:650}.row.is-start .action{font-size:1em;font-family:inherit}
.row.is-start::before{content:'';position:absolute;left:-4px;right:0;top:4px;border-top:1px solid var(--line)}
.row.refused{background:var(--bad-back)}.row.would .remedy b{color:var(--bad);font-weight:600}.row.later{border-left-style:dotted}.row.later .action,.row.later .remedy,.row.later.refused .result,.row.later.failed .result{color:var(--soft)}.row.selected{background:var(--pick);box-shadow:inset 0 0 0 1px var(--focus)}
.detail{max-height:34%;overflow:auto;border:1px solid var(--line);border-radius:8px;padding:8px 12px;background:var(--card)}.detail h2{color:var(--ink);font-size:14px;overflow-wrap:anywhere}.detail p,.detail pre{overflow-wrap:anywhere;white-space:pre-wrap}.detail .mark.refused,.detail .refused+.result{color:var(--bad)}
.detail pre{max-height:260px;overflow:auto;margin-top:6px;padding:6px;border:1px solid var(--line);border-radius:6px;background:var(--page)}
.diff span{display:block}.diff del,.diff ins{display:block;text-decoration:none}.diff del{background:var(--bad-back);color:var(--bad)}.diff ins{background:var(--ok-back);color:var(--ok)}
.tools{border:1px solid var(--line);border-radius:8px;padding:6px 10px}.tools p{display:flex;flex-wrap:wrap;gap:5px;margin-top:4px}.tool{font-family:ui-monospace,monospace;font-size:12.5px;min-height:26px;padding:1px 8px}.tool.now{color:var(--ok);border-color:currentColor}.node[role=button]{cursor:pointer}.operator label{display:grid;gap:2px;margin:4px 0}.operator .acts{flex-wrap:wrap}
summary{cursor:pointer;color:var(--soft)}
.timeline{display:flex;gap:8px;align-items:center}.track{flex:1;min-width:0}.bar{position:relative;height:34px}.bar canvas{position:absolute;inset:4px 8px;width:calc(100% - 16px);height:26px}
.bar input{position:absolute;inset:0;width:100%;height:100%;margin:0;padding:0;background:none;border:0;appearance:none;cursor:pointer}
.bar input::-webkit-slider-thumb{appearance:none;width:5px;height:34px;border-radius:3px;background:var(--ink)}.bar input::-moz-range-thumb{width:5px;height:34px;border:0;border-radius:3px;background:var(--ink)}
.legend{display:flex;gap:10px;font-size:12px;flex-wrap:wrap}.tick-refused{color:var(--bad)}.tick-approval{color:var(--warn)}.tick-hop{color:var(--observe)}.tick-mode{color:var(--coordinate)}.tick-failed{color:var(--act)}.tick-change{color:var(--ok)}.tick-look{color:var(--none)}
.timeline output{min-width:120px;color:var(--soft);font-variant-numeric:tabular-nums;text-align:right}.live.on{color:var(--ok);border-color:currentColor}
.inbox{background:var(--warn-back);border:1px solid var(--warn);border-radius:8px;padding:8px 12px;max-height:46vh;overflow:auto;flex:none}.inbox h2{color:var(--warn);font-size:14px}
.request{padding:8px 0;border-top:1px solid var(--line)}.inbox li:first-child .request{border-top:0}.request h3{font-size:15px}.request small{color:var(--soft);font-weight:400}.request dl>div{margin:2px 0}.request pre{max-height:220px;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;background:var(--page);border:1px solid var(--line);border-radius:6px;padding:4px 8px}
.acts,.request form{display:flex;gap:8px;margin-top:6px;align-items:end;flex-wrap:wrap}.request label{flex:1;display:grid;gap:2px}
.request .brief{display:grid;grid-template-columns:auto 1fr;gap:2px 12px;margin:6px 0}.message{white-space:pre-wrap}.good{color:var(--ok)}.request h4{font-size:13px;margin:6px 0 2px}.changes details{margin:2px 0;border-left:4px solid var(--ok);padding-left:8px}.changes details.out{border-left-color:var(--bad)}
.changes .border{margin:8px 0 4px;padding:3px 8px;border-top:2px dashed var(--bad);color:var(--bad);font-weight:600;font-size:13px}.behind{color:var(--soft);font-size:13px;overflow-wrap:anywhere}.grant{margin-top:6px}.grant label{flex:none}.grant label.tick{display:flex;gap:6px;align-items:center}.grant input[type=number]{width:7em}.grant input[type=checkbox]{min-height:0}
.state{border:1px solid var(--line);border-radius:99px;padding:0 7px;font-size:12px;color:var(--soft);font-weight:400}.messages{background:var(--pick);border-color:var(--focus)}.messages h2{color:var(--focus)}.inbox-message .message{max-height:160px;overflow:auto;overflow-wrap:anywhere;margin:4px 0}
.grants{border:1px solid var(--line);border-radius:8px;padding:6px 12px;flex:none;max-height:24vh;overflow:auto}.grants li{display:flex;gap:10px;align-items:center;justify-content:space-between;padding:3px 0}.grants li span{min-width:0;overflow-wrap:anywhere}
.wall{display:grid;grid-template-columns:repeat(auto-fill,minmax(230px,1fr));gap:10px}.card{width:100%;height:100%;text-align:left;display:flex;flex-direction:column;gap:6px;padding:10px;border-radius:10px;overflow:hidden}
.card.waits{border-color:var(--bad);box-shadow:0 0 0 1px var(--bad)}.card .graph{height:150px;max-height:150px;overflow:hidden}.card .graph svg{height:100%}.card .where{display:flex;gap:8px;align-items:center}.card .last,.card .name{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;max-width:100%}.card .last{color:var(--soft);font-size:12px}.card .last.refused{color:var(--bad)}.card .ago{color:var(--soft);font-size:12px}
.card .badge{align-self:flex-start}
@media(max-width:800px){:host{height:auto;overflow:auto}.page{height:auto;min-height:100dvh;overflow:visible;padding:8px}.summary{grid-template-columns:1fr 1fr}.answer.doing{grid-column:1/3;order:3}.answer .big{white-space:normal;font-size:17px}.answer.doing .more{white-space:normal}
.columns{display:flex;flex-direction:column}.left{overflow:visible;container-type:normal}.graph,.left:has(.operator[open])>.graph{position:static;max-height:40vh}.rows{height:60vh;flex:none}.detail{max-height:none}.timeline{position:sticky;bottom:0;background:var(--page);padding:6px 0;flex-wrap:wrap}.track{flex-basis:100%;order:-1}.timeline output{margin-left:auto}.row time{min-width:52px}.legend{gap:7px;font-size:11px}}
`;
