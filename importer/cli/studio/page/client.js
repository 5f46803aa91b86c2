// @ts-check
// What would be sent for one client: its rows and why they belong together, and its steps in order with what each one says.

import { get } from './api.js';
import { html } from './lib.js';
import { go, link, route } from './route.js';
import { current } from './store.js';
import { Problems, useLoaded, View, Waiting } from './ui.js';
import { count, dayIn, number } from './words.js';

/** @typedef {{name: string, value: string, cells: {cell: string, text: string}[]}} Sent a value, '' for none, and the cells it comes from */
/** @typedef {{title: string, values: Sent[], method: string, path: string, body: any}} Step */
/** @typedef {{number: number, of: number, rows: number[], why: string, problems: import('./types.js').Problem[],
 *   steps: Step[]}} Client */

export function OneClient() {
	const { version, judgement } = current(), { row, number: n } = route.value.query;
	const asked = useLoaded((signal) => get('client', row ? { row } : { number: n || 1 }, signal), [row, n, version, judgement.complete]);
	const client = /** @type {Client|null} */ (asked.answer);
	const show = (e) => { e.preventDefault(); go('client', { row: String(new FormData(e.target).get('row')) }); };
	const step = (to, words) => {
		const isThere = client && to >= 1 && to <= client.of;
		return html`<button type="button" aria-disabled=${isThere ? undefined : 'true'}
			onClick=${() => isThere && go('client', { number: to })}>${words}</button>`;
	};
	const which = !client ? 'for one client' : client.number ? `client ${number(client.number)} of ${number(client.of)}` : 'a row of no client';
	return html`<${View} title="What will be sent" of=${which} tools=${html`
		${client && html`<div class="choice" role="group" aria-label="Another client">
			${step(client.number - 1, '← Previous')}${step(client.number + 1, 'Next →')}</div>`}
		<form class="field inline" onSubmit=${show}>
			<label for="client-row">Client of row</label>
			<input id="client-row" name="row" inputmode="numeric" size="8" pattern="[0-9]+" required title="The number of a row" />
			<button type="submit">Show</button></form>`}>
		<div class="scroll reading">${client ? html`
			<div class="why"><p>${client.why}</p>
				<p class="places">${client.rows.slice(0, 20).map((r) => html`<a href=${link('rows', { row: r })}>Row ${number(r)}</a>`)}
				${client.rows.length > 20 && html`<span class="faint">and ${number(client.rows.length - 20)} more</span>`}</p></div>
			${client.problems.length > 0 && html`<section><h2 class="bad-text">Nothing is sent for this client: ${
				count(client.problems.length, 'mistake')}</h2><${Problems} list=${client.problems} /></section>`}
			<ol class="steps">${client.steps.map((s, i) => html`<${StepView} key=${client.number + '/' + i} step=${s} />`)}</ol>
			${!client.steps.length && !client.problems.length && html`<p class="nothing">Nothing is sent for this client.</p>`}`
			: html`<${Waiting} of=${asked} what="the client" />`}
		</div>
	<//>`;
}

/** @param {{step: Step}} props */
const StepView = ({ step: s }) => html`<li><h2><span class="title">${s.title}</span></h2>
	${s.values.length > 0 && html`<table class="rows body"><caption class="hidden">${s.title}</caption>
		<thead class="hidden"><tr><th scope="col">What</th><th scope="col">Value</th><th scope="col">Cell</th></tr></thead>
		<tbody>${s.values.map((v, n) => html`<tr key=${n}><th scope="row">${v.name}</th><td><${Value} text=${v.value} /></td>
			<td class="from">${v.cells.map((c) => html`<span class="code">${c.cell}</span> <q class="cell">${c.text}</q> `)}</td></tr>`)}</tbody>
	</table>`}
	${s.body && html`<details class="more"><summary>As sent<span class="hidden">: ${s.title}</span></summary>
		<pre class="code" tabindex="0">${s.method} ${s.path}${'\n'}${JSON.stringify(s.body, null, 2)}</pre></details>`}
</li>`;

/** A value; what stands for an id that only the service can give is drawn apart. @param {{text: string}} props */
function Value({ text }) {
	const parts = text.split(', ');
	if (text === '') return html`<span class="faint">nothing</span>`;
	if (text === 'true' || text === 'false') return text === 'true' ? 'yes' : 'no';
	return parts.every((id) => /^«.*»$/.test(id)) ? parts.map((id) => html`<span class="chip">${id.slice(1, -1)}</span> `)
		: html`<span class="cell" title=${text}>${dayIn(text)}</span>`;
}
