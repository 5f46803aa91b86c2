// @ts-check
// Which sheet is read, and which of its rows names the columns.

import { html } from './lib.js';
import { chooseSheet, state } from './store.js';
import { arrows, Chip, Problems, SelectField } from './ui.js';

/** @typedef {import('./types.js').Sheet} Sheet */

export function Sheets() {
	const { sheets } = /** @type {import('./types.js').State} */ (state.value);
	return html`<section class="list" aria-labelledby="view-title">
		<header class="tools"><h1 id="view-title">The sheet <span class="faint">which row names the columns?</span></h1></header>
		<div class="scroll">${sheets.map((s) => html`<${OneSheet} key=${s.path} sheet=${s} />`)}</div>
	</section>`;
}

/** @param {{sheet: Sheet}} props */
function OneSheet({ sheet: s }) {
	const width = Math.max(1, ...s.first.map((r) => r.length));
	return html`<section class="one-sheet">
		<div class="actions"><h2 class="code">${s.path}</h2>
			${s.names.length > 1 && html`<${SelectField} label="Sheet" inline=${true} value=${s.name} options=${s.names.map((n) => [n, n])}
				onPick=${(/** @type {string} */ name) => chooseSheet(name, s.headerRow)} />`}</div>
		<${Problems} list=${s.problems || []} />
		<div class="wide" tabindex="0" role="region" aria-label=${'The first rows of ' + s.path}>
			<table class="rows first" onKeyDown=${arrows('th button')}>
			<caption class="hidden">The first rows; choose the one that names the columns</caption>
			<thead><tr><th scope="col">Row</th>
				${Array.from({ length: width }, (_, i) => html`<th scope="col" class="code">${letter(i)}</th>`)}</tr></thead>
			<tbody>${s.first.map((cells, i) => html`<tr class=${i + 1 === s.headerRow ? 'chosen' : i + 1 < s.headerRow ? 'out' : ''}>
				<th scope="row"><button type="button" class="quiet" aria-pressed=${i + 1 === s.headerRow ? 'true' : 'false'}
					aria-label=${`Row ${i + 1} names the columns`} onClick=${() => i + 1 !== s.headerRow && chooseSheet(undefined, i + 1)}>
					${i + 1}</button>${i + 1 === s.headerRow && html` <${Chip}>header<//>`}</th>
				${Array.from({ length: width }, (_, n) => html`<td class="cell">${cells[n] || ''}</td>`)}</tr>`)}</tbody>
		</table></div>
	</section>`;
}

/** 0 → A, 26 → AA. @param {number} n @returns {string} */
const letter = (n) => (n >= 26 ? letter(Math.floor(n / 26) - 1) : '') + String.fromCharCode(65 + (n % 26));
