// @ts-check
// The door to the libraries: the page imports Preact, htm and signals from here only.

import * as preact from './vendor/preact.js';
import * as hooks from './vendor/hooks.js';
import htm from './vendor/htm.js';
import * as signals from './vendor/signals.js';

/** A value that redraws what reads it. @template T @typedef {{value: T, peek: () => T}} Signal */

/** Makes elements from a template text: html`<b class="x">${text}</b>`. @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(/** @type {any} */ (preact).h);

/** @type {{render: (element: any, place: HTMLElement) => void}} */
export const { render } = /** @type {any} */ (preact);

/** @type {{signal: <T>(first: T) => Signal<T>, computed: <T>(make: () => T) => Signal<T>}} */
export const { signal, computed } = /** @type {any} */ (signals);

/** @type {{useState: <T>(first: T | (() => T)) => [T, (next: T | ((old: T) => T)) => void], useRef: <T = any>(first?: any) => {current: T},
 *   useEffect: (work: () => void | (() => void), when?: any[]) => void, useLayoutEffect: (work: () => void | (() => void), when?: any[]) => void,
 *   useId: () => string}} */
export const { useState, useRef, useEffect, useLayoutEffect, useId } = /** @type {any} */ (hooks);

/** The part of an address behind “?”; empty members are left out. @param {Record<string, string|number|undefined>} query */
export const search = (query) => String(new URLSearchParams(Object.entries(query)
	.flatMap(([name, value]) => (value ? [[name, String(value)]] : []))));
