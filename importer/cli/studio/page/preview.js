// @ts-check
// What a rule makes of real rows, while it is being written.

import { post } from './api.js';
import { html } from './lib.js';
import { useLoaded, Waiting } from './ui.js';
import { count, dayIn, number } from './words.js';

/** @param {{target: import('./types.js').Target, rule: import('./types.js').Rule}} props */
export function Preview({ target, rule }) {
	const asked = useLoaded((signal) => post('preview', { path: target.path, value: rule }, signal), [target.path, JSON.stringify(rule)], 250);
	const answer = /** @type {import('./types.js').Preview|null} */ (asked.answer);
	if (!answer) return html`<section class="preview"><h3>Result</h3><${Waiting} of=${asked} what="the first rows" /></section>`;
	if (answer.error?.code === 'not-tried') return null;
	if (answer.error) return html`<section class="preview" aria-live="polite"><h3>Result</h3><p class="bad-text">${answer.error.message}</p>
		${answer.error.hint && html`<p class="faint">${answer.error.hint}</p>`}</section>`;
	return html`<section class="preview" aria-busy=${asked.loading ? 'true' : 'false'}>
		<h3>Result <span class="faint" role="status">${number(answer.usable)} usable${answer.errors > 0
			&& html`, <span class="bad-text">${number(answer.errors)} with errors</span>`}${answer.empty > 0 && `, ${number(answer.empty)} empty`}
			${' '}among the first ${count(answer.usable + answer.errors + answer.empty, 'row')}</span></h3>
		<table class="rows"><thead><tr><th scope="col" class="num">Row</th><th scope="col">In the sheet</th><th scope="col">What comes out</th></tr></thead>
			<tbody>${answer.rows.slice(0, 6).map((r) => html`<tr key=${r.row}><td class="num">${number(r.row)}</td><td class="cell">${r.source}</td>
				<td><${Result} row=${r} /></td></tr>`)}</tbody></table>
	</section>`;
}

/** What comes out of one row. @param {{row: import('./types.js').PreviewRow}} props */
export function Result({ row }) {
	if (row.problem) return html`<span class="bad-text">${row.problem.message}</span>`;
	if (!row.result) return html`<span class="faint">nothing</span>`;
	return html`<span class="cell" title=${row.result}>${dayIn(row.result)}</span>`;
}
