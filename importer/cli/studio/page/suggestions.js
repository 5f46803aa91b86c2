// @ts-check
// What a person decides: suggestions, each with its reason, and the questions of a first mapping.

import { html } from './lib.js';
import { link } from './route.js';
import { describe } from './rule.js';
import { columnAt, current, decide, patch, targetAt, targetNear } from './store.js';
import { Act } from './ui.js';
import { count } from './words.js';

/** @typedef {import('./types.js').Suggestion} Suggestion */

/** One suggestion, to accept at once. @param {{suggestion: Suggestion, from?: boolean}} props from names the column instead of the target */
export function Suggested({ suggestion: s, from = false }) {
	const title = targetAt(s.path)?.name || s.path.split('/').pop();
	const header = columnAt(s.column)?.header || s.column, verb = s.sure ? 'Accept' : 'Confirm';
	return html`<span class=${'suggested ' + (s.sure ? 'sure' : 'unsure')} title=${s.ask || s.reason}>
		<span>${from ? `${s.column} · ${header}` : title}</span>
		<${Act} onAct=${() => patch(`${title} ← ${header}`, s.operations)} label=${`${verb}: ${header} goes to ${title}`}>${verb}<//>
	</span>`;
}

/** Suggestions with their reasons. @param {{list: Suggestion[], from?: boolean}} props */
export const Reasons = ({ list, from = false }) => list.length > 0 && html`<ul class="reasons">${list.map((s) => html`<li key=${s.path + s.column}>
	<${Suggested} suggestion=${s} from=${from} />
	<p class="faint">${s.reason}</p>
	${s.ask && html`<p class="warn-text">${s.ask}</p>`}
</li>`)}</ul>`;

/** Accepts all sure suggestions in one step. */
export function AcceptAll() {
	const sure = current().suggestions.filter((s) => s.sure);
	return sure.length > 0 && html`<div class="accept-all">
		<${Act} kind="main" onAct=${() => patch(`Accepted ${count(sure.length, 'suggestion')}`, sure.flatMap((s) => s.operations))}>
			Accept ${count(sure.length, 'sure suggestion')}<//>
	</div>`;
}

/** Questions; “Keep” says yes to what the file has now, links lead to what each is about.
 * @param {{list: import('./types.js').Question[], links?: boolean}} props */
export const Questions = ({ list, links = false }) => list.length > 0 && html`<ul class="questions">${list.map((q) => {
	const target = links ? targetNear(q.path) : undefined, now = target?.path === q.path && describe(target);
	return html`<li key=${q.line + q.text}>
		<p>${target && html`<a href=${link('targets', { at: target.path })}>${target.name}</a>${now && html`, now <b class="now">${now}</b>`}: `}${q.text}</p>
		<p class="places"><a href=${link('file', { line: q.line })}>Line ${q.line}</a>
			<${Act} onAct=${() => decide(q)} label=${'Keep: ' + q.text}>Keep<//></p>
	</li>`;
})}</ul>`;
