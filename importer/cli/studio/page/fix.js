// @ts-check
// What a rule makes of real rows while it is being written, and fixing at the mistake, in the mapping, for all rows alike: how dates are
// written, which texts count as empty, what a text means. The cells of tonight's copy are never changed; tomorrow's export would have the
// mistakes again.

import { get, post } from './api.js';
import { html } from './lib.js';
import { isRegionMissing } from './reading.js';
import { link } from './route.js';
import { changes, emptyText, members, sourceOf, withMember } from './rule.js';
import { columnAt, current, patch, state, targetAt, targetNear } from './store.js';
import { Act, useLoaded, Waiting } from './ui.js';
import { ValueTable } from './values.js';
import { count, dayIn, number } from './words.js';

/** @typedef {import('./types.js').Target} Target */

/** The columns that a target takes whole cells from; several when a wide sheet has the same things side by side. @param {Target} target */
const lettersOf = (target) => (target.editor === 'value' && sourceOf(target.rule) === 'column' ? target.columns : []);

/** The texts in the cells that a target takes, with what it makes of them. @param {Target} target */
export function useCells(target) {
	const letter = lettersOf(target).join();
	return useLoaded((signal) => (letter ? get('column', { letter, path: target.path }, signal) : null), [letter, target.path, state.value?.version]);
}

/** @param {{target: Target, cells: {values: import('./types.js').Distinct[], more: number}|null}} props cells are those of useCells */
export function Fixes({ target, cells }) {
	const all = members(target.rule), type = all.type || target.type, isBad = target.errors > 0;
	const own = current().mapping.problems.filter((p) => targetNear(p.path) === target);
	const isZoneMissing = [...target.problems, ...own].some((p) => p.code === 'no-timezone');
	const hasTable = Boolean(target.options || all.values) || ['Checkbox', 'DropDown'].includes(type || '');
	const fix = () => {
		if (isZoneMissing) return html`<p>Where were the times written down? <a href=${link('targets', { at: '/sheet/timezone' })}>Time zone</a></p>`;
		if (isRegionMissing(target)) return html`<p>Which country are the numbers of? Say it below, in “Country of numbers without one”.</p>`;
		return cells && html`${isBad && ['Number', 'Currency'].includes(type || '') && html`<p>Are the numbers written another way? <a
				href=${link('targets', { at: '/sheet/numbers' })}>How numbers are written</a></p>`}
			${isBad && ['Date', 'DateTime'].includes(type || '') && html`<${Readings} target=${target} />`}
			${hasTable ? html`<${ValueTable} key=${target.path} target=${target} type=${type || ''} values=${cells.values} more=${cells.more} />`
				: html`<${Unreadable} target=${target} values=${cells.values.filter((v) => v.problem)} />`}`;
	};
	return html`<div class="fixes">${fix()}</div>`;
}

/** The ways in which the dates can be read, side by side, with real cells. @param {{target: Target}} props */
function Readings({ target }) {
	const asked = useLoaded((signal) => post('preview', { path: target.path, value: target.rule }, signal), [target.path, JSON.stringify(target.rule)]);
	const readings = /** @type {import('./types.js').Preview} */ (asked.answer || {}).readings || [];
	const now = members(target.rule).format, fewest = Math.min(...readings.map((r) => r.errors));
	if (!readings.some((r) => r.format !== now && (!now || r.errors < target.errors))) return null;
	const choose = (format) => patch(`${target.name}: dates are ${format}`, changes(target, withMember(target.rule, 'format', format)));
	return html`<section class="readings"><h3>How are the dates written?</h3>
		<div class="side-by-side">${readings.map((r) => html`<section key=${r.format} aria-label=${r.format}>
			<h4 class="code">${r.format}</h4>
			<${Results} rows=${r.rows.slice(0, 4)} isShort=${true} />
			<p class=${r.errors ? 'bad-text' : 'good-text'}>${r.errors ? `${count(r.errors, 'row')} cannot be read so` : 'every row can be read so'}</p>
			${r.format === now ? html`<p class="faint">This is chosen.</p>`
				: html`<${Act} kind=${r.errors === fewest ? 'main' : ''} onAct=${() => choose(r.format)}>Dates are ${r.format}<//>`}
		</section>`)}</div>
	</section>`;
}

/** Texts that cannot be read, most frequent first. @param {{target: Target, values: import('./types.js').Distinct[]}} props */
function Unreadable({ target, values }) {
	const letters = lettersOf(target), empties = [targetAt('/sheet/empty')?.rule ?? []].flat();
	const leaveEmpty = (text) => patch(`“${text}” counts as empty`, [emptyText(text)]);
	return values.length > 0 && html`<section class="unreadable">
		<h3>Texts that cannot be read <span class="faint">in ${
			letters.map((letter) => columnAt(letter)?.header || letter).join(', ')}</span></h3>
		<table class="rows"><thead><tr><th scope="col">In the sheet</th><th scope="col" class="num">Rows</th><th scope="col">Why</th>
			<th scope="col">For all rows</th></tr></thead>
			<tbody>${values.slice(0, 30).map((v) => html`<tr key=${v.text}><td class="cell">${v.text}</td><td class="num">${number(v.count)}</td>
				<td>${target.problems.find((p) => p.code === v.problem)?.message || v.problem}</td>
				<td><${Act} onAct=${() => leaveEmpty(v.text)} label=${`Leave empty: ${v.text}`}>Leave empty<//></td></tr>`)}</tbody></table>
		${values.length > 30 && html`<p class="faint">and ${count(values.length - 30, 'more text')}</p>`}
		<p class="faint">Left empty means: a cell that says exactly this counts as empty, in every column${empties.length > 0
			&& ` (now ${empties.map((t) => `“${t}”`).join(', ')})`}. What is simply wrong is corrected where the sheet comes from;${' '}
			<a href=${link('rows', { show: 'errors', column: letters.length === 1 ? letters[0] : undefined })}>these are the rows</a>. ${
			target.errors > 0 && 'Their clients are not sent until then.'}</p>
	</section>`;
}

/** What a rule makes of real rows, while it is being written. @param {{target: Target, rule: import('./types.js').Rule}} props */
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
		<${Results} rows=${answer.rows.slice(0, 6)} />
	</section>`;
}

/** What comes out of rows. @param {{rows: import('./types.js').PreviewRow[], isShort?: boolean}} props */
const Results = ({ rows, isShort = false }) => html`<table class="rows">
	<thead><tr><th scope="col" class="num">Row</th><th scope="col">In the sheet</th>
		<th scope="col">${isShort ? 'Read as' : 'What comes out'}</th></tr></thead>
	<tbody>${rows.map((r) => html`<tr key=${r.row}><td class="num">${number(r.row)}</td><td class="cell">${r.source}</td>
		<td>${r.problem ? html`<span class="bad-text">${isShort ? 'no date' : r.problem.message}</span>`
			: r.result ? html`<span class="cell" title=${r.result}>${dayIn(r.result)}</span>` : html`<span class="faint">nothing</span>`}</td>
	</tr>`)}</tbody></table>`;
