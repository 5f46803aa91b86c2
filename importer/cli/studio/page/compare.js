// @ts-check
// Two states of the file of which one has to be chosen: the difference, and the choice. Neither goes without a word.

import { get } from './api.js';
import { Dialog } from './dialog.js';
import { Diff } from './file.js';
import { html, useRef } from './lib.js';
import { draft, reload, save, state } from './store.js';
import { Act, useLoaded } from './ui.js';

/** @param {{of: 'disk'|'draft', onClose: () => void}} props disk is the file that another program changed; draft is what was left unsaved */
export function Compare({ of, onClose }) {
	const { mapping, version } = /** @type {import('./types.js').State} */ (state.value);
	const asked = useLoaded((signal) => get('diff', { with: of }, signal), [of, version]);
	const close = useRef(() => {});
	const choose = (/** @type {() => Promise<boolean>} */ does) => async () => { if (await does()) close.current(); };
	const isDisk = of === 'disk';
	return html`<${Dialog} wide=${true} title=${isDisk ? `${mapping.path} was changed by another program` : 'Changes of last time, not saved'} onClose=${onClose} close=${close}>
		<p>${isDisk ? html`Green lines are only in the file on the disk, red lines are only here.` : html`Green lines are what was left unsaved, red lines are only here.`}</p>
		<${Diff} asked=${asked} title="The difference" nothing="Both say the same." />
		<div class="actions">${isDisk
			? html`<${Act} onAct=${choose(reload)}>Take theirs<//><${Act} onAct=${choose(() => save(true))}>Keep mine<//>
				<span class="faint">“Take theirs” can be undone. “Keep mine” writes over the file.</span>`
			: html`<${Act} onAct=${choose(() => draft(true))}>Take them up<//><${Act} onAct=${choose(() => draft(false))}>Drop them<//>
				<span class="faint">“Take them up” can be undone. “Drop them” cannot.</span>`}</div>
	<//>`;
}
