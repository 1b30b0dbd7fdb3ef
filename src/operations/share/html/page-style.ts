/** How the page looks: by the reader's own colours, on any width, and on paper. Nothing is loaded from anywhere. */

const LIGHT =
  "--bg:#fff;--fg:#1c1e21;--dim:#64707d;--line:#dfe3e8;--soft:#f4f6f8;--user:#0b63c5;--bad:#b3261e;--add:#e3f6e6;--del:#fdE8e8;--add-fg:#0a5c22;--del-fg:#8c1d18;--key:#8250df;--str:#0a5a8a;--num:#0550ae;--com:#64707d"
const DARK =
  "--bg:#14171a;--fg:#e6e8ea;--dim:#98a3ae;--line:#2c3238;--soft:#1d2226;--user:#72b3ff;--bad:#ff8a80;--add:#12321c;--del:#3c1a1c;--add-fg:#a5e5b4;--del-fg:#ffb4ad;--key:#c9a7ff;--str:#9cd3ff;--num:#8fc1ff;--com:#98a3ae"

/** The colours, light and dark: those of the system, or of the button that the page's script makes. */
export const THEME_STYLE = `
:root{color-scheme:light dark;${LIGHT}}
@media(prefers-color-scheme:dark){:root:not([data-theme=light]){${DARK}}}
:root[data-theme=light]{color-scheme:light}:root[data-theme=dark]{color-scheme:dark;${DARK}}
*{box-sizing:border-box}
`

/** The articles of messages, on whatever page they stand. */
export const MESSAGE_STYLE = `
article{padding:.75rem 0 .25rem;border-top:1px solid var(--line);content-visibility:auto;contain-intrinsic-size:auto 8rem;overflow-wrap:anywhere}
article:target{outline:2px solid var(--user);outline-offset:4px;border-radius:2px}
article>header{display:flex;gap:.75rem;align-items:baseline;font-size:.85rem;color:var(--dim)}
article>header a{color:inherit;text-decoration:none;font-weight:600}article>header a:hover{text-decoration:underline}
article.user>header a{color:var(--user)}article.assistant>header a{color:var(--fg)}
article p,article ul,article ol{margin:.5rem 0}article h3,article h4,article h5,article h6{margin:.9rem 0 .3rem;font-size:1.05rem}
article.assistant+article.assistant,article.tool+article.tool,article.assistant+article.tool,article.tool+article.assistant{border-top:0;padding-top:0}
article.assistant+article.assistant>header,article.tool+article.tool>header,article.assistant+article.tool>header,article.tool+article.assistant>header{display:none}
a{color:var(--user)}
pre{margin:.5rem 0;padding:.6rem .8rem;background:var(--soft);border-radius:.4rem;overflow-x:auto;font:13px/1.5 ui-monospace,monospace;max-height:32rem}
code{font:.9em ui-monospace,monospace}p code,li code{background:var(--soft);padding:.05em .3em;border-radius:.25em}
table{border-collapse:collapse;display:block;overflow-x:auto}th,td{border:1px solid var(--line);padding:.25rem .6rem;text-align:left}
blockquote{margin:.5rem 0;padding:0 0 0 .9rem;border-left:3px solid var(--line);color:var(--dim)}
img{max-width:100%;height:auto;border-radius:.4rem}
details{margin:.4rem 0}summary{cursor:pointer;padding:.2rem 0;color:var(--dim);overflow-wrap:anywhere}
summary b{color:var(--fg)}summary em,.failed>summary b{color:var(--bad);font-style:normal}summary code{font-size:.85em}
details.branch{border-left:3px solid var(--line);padding-left:.9rem}
.sides{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:.75rem}
.path{font:600 .85rem ui-monospace,monospace;margin:.5rem 0 0}
.diff{padding:.4rem 0}.diff span{display:block;padding:0 .8rem;white-space:pre-wrap}.diff span span{display:inline;padding:0}
.diff .add{background:var(--add);color:var(--add-fg)}.diff .del{background:var(--del);color:var(--del-fg)}.diff .gap{color:var(--dim);text-align:center}
.took{margin:.1rem 0;color:var(--dim);font-size:.8rem;text-align:right}
.todos{list-style:none;padding:0}.todos .now{font-weight:600}
.hljs-keyword,.hljs-selector-tag,.hljs-built_in,.hljs-type{color:var(--key)}.hljs-string,.hljs-regexp,.hljs-attr{color:var(--str)}.hljs-number,.hljs-literal,.hljs-title{color:var(--num)}.hljs-comment,.hljs-quote{color:var(--com);font-style:italic}.hljs-addition{color:var(--add-fg)}.hljs-deletion{color:var(--del-fg)}
`

const BODY_STYLE = `
body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:70rem;background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,sans-serif;display:flex;flex-direction:column}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem;overflow-wrap:anywhere}
#find{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;padding:.5rem 0;background:var(--bg)}
#find input{flex:1;min-width:8rem;font:inherit;padding:.35rem .6rem;border:1px solid var(--line);border-radius:.4rem;background:var(--soft);color:inherit}
#find button,#find select{font:inherit;padding:.35rem .7rem;border:1px solid var(--line);border-radius:.4rem;background:var(--soft);color:inherit}
#find output{color:var(--dim);font-size:.85rem;white-space:nowrap}
[hidden]{display:none}
body>footer{color:var(--dim);font-size:.85rem;border-top:1px solid var(--line);padding-top:.75rem;margin-top:1rem}
@media print{#find{display:none}body{max-width:none}}
`

const FRAME_STYLE = `
body>header{order:0}#map{order:1}#find{order:2}main{order:3}body>footer{order:4}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0 0 1rem;color:var(--dim);font-size:.9rem}
dd{margin:0;overflow-wrap:anywhere;color:var(--fg)}
#map{margin:0 0 1rem}#map svg{display:block;width:100%}#map p{margin:.25rem 0 0;color:var(--dim);font-size:.85rem}
#map .user{fill:var(--user)}#map .assistant{fill:var(--fg)}#map .tool{fill:var(--dim)}#map .failed{fill:var(--bad)}#map a:focus rect,#map a:hover rect{opacity:.6}
@media(max-width:44rem){.sides{grid-template-columns:minmax(0,1fr)}body{padding:1rem .75rem 3rem}}
@media print{article{content-visibility:visible;break-inside:auto}pre{max-height:none;white-space:pre-wrap}}
`

export const PAGE_STYLE = `${THEME_STYLE}${BODY_STYLE}${MESSAGE_STYLE}${FRAME_STYLE}`

export const INDEX_STYLE = `${THEME_STYLE}${BODY_STYLE}
a{color:var(--user)}
header p,li p{margin:.1rem 0;color:var(--dim);font-size:.9rem}
h2{font-size:1rem;color:var(--dim);margin:1.25rem 0 .25rem}
ul{list-style:none;margin:0;padding:0}li{padding:.5rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
li a{font-weight:600;text-decoration:none}li a:hover{text-decoration:underline}li span{margin-right:.75rem}
@media(max-width:44rem){body{padding:1rem .75rem 3rem}}
`

/** Finds words in the list. */
export const INDEX_SCRIPT = `
(()=>{const all=[...document.querySelectorAll("li")];const bar=document.createElement("div");bar.id="find";bar.setAttribute("role","search");
const input=document.createElement("input");input.type="search";input.placeholder="Filter sessions  ( / )";input.setAttribute("aria-label","Filter sessions");
const said=document.createElement("output");bar.append(input,said);document.querySelector("main").before(bar);
const find=()=>{const words=input.value.toLowerCase().split(/\\s+/).filter(Boolean);let n=0;
for(const li of all){const text=li.textContent.toLowerCase();li.hidden=!words.every(w=>text.includes(w));if(!li.hidden)n++}
for(const s of document.querySelectorAll("section"))s.hidden=!s.querySelector("li:not([hidden])");
said.textContent=words.length?n+" of "+all.length:""};
input.addEventListener("input",find);
addEventListener("keydown",e=>{if(e.target===input){if(e.key==="Escape"){input.value="";find();input.blur()}return}
if(e.key==="/"&&!e.ctrlKey&&!e.metaKey&&!e.altKey){e.preventDefault();input.focus()}});
})()
`

/** Finds words in the messages, opens what is folded around them, and walks by keys. The page is read without it as well. */
export const PAGE_SCRIPT = `
(()=>{const all=[...document.querySelectorAll("article")];const bar=document.createElement("div");bar.id="find";bar.setAttribute("role","search");
const input=document.createElement("input");input.type="search";input.placeholder="Find in this session  ( / )";input.setAttribute("aria-label","Find in this session");
const said=document.createElement("output");const fold=document.createElement("button");fold.type="button";fold.textContent="Unfold all";
const kinds={"":"Everything",user:"User",assistant:"Assistant",failed:"Failed calls"};const kind=document.createElement("select");kind.setAttribute("aria-label","Show");
for(const [value,text] of Object.entries(kinds)){const o=document.createElement("option");o.value=value;o.textContent=text;kind.append(o)}
const theme=document.createElement("button");theme.type="button";const root=document.documentElement;
const isDark=()=>(root.dataset.theme||(matchMedia("(prefers-color-scheme:dark)").matches?"dark":"light"))==="dark";
const name=()=>{theme.textContent=isDark()?"Light":"Dark"};theme.addEventListener("click",()=>{root.dataset.theme=isDark()?"light":"dark";name()});name();
bar.append(input,said,kind,fold,theme);document.querySelector("main").before(bar);
const isOf=a=>kind.value===""||(kind.value==="failed"?a.querySelector(".failed")!==null:a.classList.contains(kind.value));
let texts;const find=()=>{const words=input.value.toLowerCase().split(/\\s+/).filter(Boolean);texts??=all.map(a=>a.textContent.toLowerCase());let n=0;
all.forEach((a,i)=>{const hit=isOf(a)&&words.every(w=>texts[i].includes(w));a.hidden=!hit;if(hit)n++});said.textContent=words.length||kind.value?n+" of "+all.length:""};
kind.addEventListener("change",find);
let timer;input.addEventListener("input",()=>{clearTimeout(timer);timer=setTimeout(find,120)});
let open=false;fold.addEventListener("click",()=>{open=!open;for(const d of document.querySelectorAll("details"))d.open=open;fold.textContent=open?"Fold all":"Unfold all"});
const go=step=>{const seen=all.filter(a=>!a.hidden);const top=seen.findIndex(a=>a.getBoundingClientRect().top>8);
const at=step>0?seen.findIndex(a=>a.getBoundingClientRect().top>60):(top<0?seen.length:top)-1+(step<0&&top>0&&seen[top-1].getBoundingClientRect().top>-8?-1:0);
const to=seen[Math.max(0,at<0?seen.length-1:at)];if(to){to.scrollIntoView();scrollBy(0,-50)}};
addEventListener("keydown",e=>{if(e.target===input){if(e.key==="Escape"){input.value="";find();input.blur()}return}
if(e.ctrlKey||e.metaKey||e.altKey)return;if(e.key==="/"){e.preventDefault();input.focus()}else if(e.key==="j")go(1);else if(e.key==="k")go(-1)});
})()
`
