// @ts-check
// Which sheet is read, and which of its rows names the columns.

import { Field } from './fields.js';
import { html } from './lib.js';
import { current, patch } from './store.js';
import { arrows, Chip, Problems, View } from './ui.js';

/** Chooses the row that names the columns, and the sheet where its name is given. @param {number} headerRow @param {string} [name] */
const choose = (headerRow, name) => patch(`Row ${headerRow} names the columns`, [
	...(name === undefined ? [] : [{ op: /** @type {'add'} */ ('add'), path: '/sheet/name', value: name }]),
	{ op: 'add', path: '/sheet/header_row', value: headerRow }]);

export function Sheet() {
	const { sheet: s } = current(), columns = Array.from({ length: Math.max(1, ...s.first.map((r) => r.length)) }, (_, i) => i);
	return html`<${View} title="The sheet" of="which row names the columns?"><div class="scroll one-sheet">
		<div class="actions"><h2 class="code">${s.path}</h2>
			${s.names.length > 1 && html`<${Field} label="Sheet" inline=${true} value=${s.name} options=${s.names.map((n) => [n, n])}
				onValue=${(name) => choose(s.headerRow, name)} />`}</div>
		<${Problems} list=${s.problems} />
		<div class="wide" tabindex="0" role="region" aria-label=${'The first rows of ' + s.path}><table class="rows first" onKeyDown=${arrows('th button')}>
			<caption class="hidden">The first rows; choose the one that names the columns</caption>
			<thead><tr><th scope="col">Row</th>${columns.map((i) => html`<td key=${i} class="code letter"></td>`)}</tr></thead>
			<tbody>${s.first.map((cells, i) => {
				const isHeader = i + 1 === s.headerRow;
				return html`<tr class=${isHeader ? 'chosen' : i + 1 < s.headerRow ? 'out' : ''}>
					<th scope="row"><button type="button" class="quiet" aria-pressed=${isHeader ? 'true' : 'false'} aria-label=${`Row ${i + 1} names the columns`}
						onClick=${() => !isHeader && choose(i + 1)}>${i + 1}</button>${isHeader && html` <${Chip}>header<//>`}</th>
					${columns.map((n) => html`<td class="cell">${cells[n] || ''}</td>`)}</tr>`;
			})}</tbody>
		</table></div>
	</div><//>`;
}
