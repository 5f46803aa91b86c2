// @ts-check
// What a rule makes of real rows, while it is being written.

import { post } from './api.js';
import { html, useState } from './lib.js';
import { useLoaded, Waiting } from './ui.js';
import { count, dayIn, mistake, number } from './words.js';

/** @typedef {import('./types.js').Preview} PreviewAnswer */
/** @typedef {import('./types.js').PreviewRow} PreviewRow */

const shown = 6;

/** @param {{target: import('./types.js').Target, rule: import('./types.js').Rule}} props */
export function Preview({ target, rule }) {
	const [all, setAll] = useState(false);
	const asked = useLoaded((signal) => post('preview', { path: target.path, value: rule }, signal), [target.path, JSON.stringify(rule)], 250);
	const answer = /** @type {PreviewAnswer|null} */ (asked.answer);
	if (!answer) return html`<section class="preview"><h3>Result</h3><${Waiting} of=${asked} what="the first rows" /></section>`;
	if (answer.error?.code === 'not-tried') return null;
	if (answer.error) return html`<section class="preview" aria-live="polite"><h3>Result</h3><p class="bad-text">${answer.error.message}</p>
		${answer.error.hint && html`<p class="faint">${answer.error.hint}</p>`}</section>`;
	const rows = all ? answer.rows : answer.rows.slice(0, shown);
	return html`<section class="preview" aria-busy=${asked.loading ? 'true' : 'false'}>
		<h3>Result <span class="faint" role="status">
			${answer.errors ? html`${number(answer.usable)} usable, <span class="bad-text">
			${number(answer.errors)} with errors</span>` : `${number(answer.usable)} usable`}
			${answer.empty > 0 && `, ${number(answer.empty)} empty`} among the first ${count(answer.usable + answer.errors + (answer.empty || 0), 'row')}</span></h3>
		<table class="rows"><thead><tr><th scope="col" class="num">Row</th><th scope="col">In the sheet</th><th scope="col">What comes out</th>
			</tr></thead>
			<tbody>${rows.map((r) => html`<tr key=${r.row}><td class="num">${number(r.row)}</td><td class="cell">${r.source}</td>
				<td><${Result} row=${r} /></td></tr>`)}</tbody></table>
		${answer.rows.length > shown && html`<button type="button" class="quiet" aria-expanded=${all ? 'true' : 'false'}
			onClick=${() => setAll(!all)}>${all ? 'Fewer rows' : `All ${answer.rows.length} rows`}</button>`}
	</section>`;
}

/** What comes out of one row. @param {{row: PreviewRow}} props */
export function Result({ row }) {
	if (row.problem) return html`<span class="bad-text">${row.problem.message || mistake({ code: row.problem.code || '' })}</span>`;
	if (row.result === null || row.result === '') return html`<span class="faint">nothing</span>`;
	return html`<span class="cell" title=${row.result}>${dayIn(row.result)}</span>${row.warning && html` <span class="warn-text">${row.warning.message}</span>`}`;
}
