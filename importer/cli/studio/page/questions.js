// @ts-check
// What a first mapping asks: its text says why it was proposed, a person decides, and the question goes.

import { html } from './lib.js';
import { link } from './route.js';
import { describe, nameOf } from './rule.js';
import { decide, targetNear, targetsByPath } from './store.js';
import { Act } from './ui.js';

/** What the file has now: “Keep” says yes to this. @param {import('./types.js').Target} target */
const proposed = (target) => describe(target) && html`, now <b class="now">${describe(target)}</b>`;

/** @param {{list: import('./types.js').Question[], links?: boolean}} props links leads to what the question is about */
export function Questions({ list, links = false }) {
	if (!list.length) return null;
	return html`<ul class="questions">${list.map((q) => {
		const near = links ? targetNear(q.path) : undefined, target = near && targetsByPath.value.get(near);
		return html`<li key=${q.line + q.text}>
			<p>${target && html`<a href=${link('targets', { at: near })}>${nameOf(target)}</a>${near === q.path && proposed(target)}${': '}`}${q.text}</p>
			<p class="places"><a href=${link('file', { line: q.line })}>Line ${q.line}</a>
				<${Act} onAct=${() => decide(q)} label=${'Keep: ' + q.text}>Keep<//></p>
		</li>`;
	})}</ul>`;
}
