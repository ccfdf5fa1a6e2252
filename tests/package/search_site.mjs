// Asks the search of a built site: the page's own worker with its index, so the ranking is what a reader sees.
//
// node search_site.mjs SITE < queries.json: a JSON list of queries in, a list of lists of pages out, the best first.

import { readFileSync, readdirSync } from "node:fs";
import { runInThisContext } from "node:vm";

const [site] = process.argv.slice(2);
const folder = `${site}/assets/javascripts/workers`;
const [SETUP, QUERY] = [0, 2];
let listener;
let answer;

// What a worker has of a browser.
globalThis.self = globalThis;
globalThis.addEventListener = (_, heard) => { listener = heard; };
globalThis.postMessage = (message) => answer(message);

const ask = (type, data) => new Promise((done) => { answer = done; listener({ data: { type, data } }); });

runInThisContext(readFileSync(`${folder}/${readdirSync(folder).find((name) => name.endsWith(".js"))}`, "utf8"));
await ask(SETUP, { ...JSON.parse(readFileSync(`${site}/search/search_index.json`, "utf8")), options: {} });
const found = [];
for (const query of JSON.parse(readFileSync(0, "utf8"))) {
    const { data } = await ask(QUERY, query);
    found.push(data.items.map(([best]) => best.location.split("#")[0]));
}
console.log(JSON.stringify(found));
