// @ts-check
// What a person decides: suggestions, each with its reason, and the questions of a first mapping.

import { html } from './lib.js';
import { link } from './route.js';
import { describe, nameOf } from './rule.js';
import { columnsByLetter, decide, patch, suggestions, targetNear, targetsByPath } from './store.js';
import { Act } from './ui.js';
import { certainties, count } from './words.js';

/** @typedef {import('./types.js').Suggestion} Suggestion */

/** @param {Suggestion} s */
const titleOf = (s) => { const target = targetsByPath.value.get(s.path); return target ? nameOf(target) : s.path.split('/').pop(); };
/** @param {Suggestion} s */
const headerOf = (s) => columnsByLetter.value.get(s.column)?.header || s.column;

/** Takes a suggestion. @param {Suggestion} s */
const take = (s) => patch(`${titleOf(s)} ← ${headerOf(s)}`, s.operations);

/** One suggestion, to accept at once. @param {{suggestion: Suggestion, from?: boolean}} props from names the column instead of the target */
export function Suggested({ suggestion: s, from = false }) {
	const what = from ? `${s.column} · ${headerOf(s)}` : titleOf(s);
	return html`<span class=${'suggested ' + (s.sure ? 'sure' : 'unsure')} title=${s.ask || s.reason}>
		<span>${what}</span>
		<${Act} onAct=${() => take(s)} label=${`${s.sure ? 'Accept' : 'Confirm'}: ${headerOf(s)} goes to ${titleOf(s)}`}>
			${s.sure ? 'Accept' : 'Confirm'}<//>
	</span>`;
}

/** The suggestions for one column or target, with their reasons. @param {{list: Suggestion[], from?: boolean}} props */
export function Reasons({ list, from = false }) {
	if (!list.length) return null;
	return html`<ul class="reasons">${list.map((s) => html`<li key=${s.path + s.column}>
		<${Suggested} suggestion=${s} from=${from} />
		<p class="faint">${s.reason || certainties[s.certainty] || s.certainty}</p>
		${s.ask && html`<p class="warn-text">${s.ask}</p>`}
	</li>`)}</ul>`;
}

/** Accepts all sure suggestions in one step. */
export function AcceptAll() {
	const sure = suggestions.value.filter((s) => s.sure);
	if (!sure.length) return null;
	return html`<div class="accept-all">
		<${Act} main=${true} onAct=${() => patch(`Accepted ${count(sure.length, 'suggestion')}`, sure.flatMap((s) => s.operations))}>
			Accept ${count(sure.length, 'sure suggestion')}<//>
	</div>`;
}

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
