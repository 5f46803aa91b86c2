// @ts-check
// Starts the page: reads the state from the server, draws the shell, and keeps asking.

import { html, render } from './lib.js';
import { keepFocus } from './focus.js';
import { listen } from './keys.js';
import { Shell } from './shell.js';
import { follow } from './store.js';

render(html`<${Shell} />`, /** @type {HTMLElement} */ (document.getElementById('page')));
keepFocus();
listen();
follow();
