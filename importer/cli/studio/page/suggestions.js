// @ts-check
// Suggestions of the server: each with its reason; the unsure ones wait for a person.

import { html } from './lib.js';
import { nameOf } from './rule.js';
import { columnsByLetter, patch, suggestions, targetsByPath } from './store.js';
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
