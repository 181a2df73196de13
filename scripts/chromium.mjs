// The browser that shows the editor in the tests.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const flags = [
  '--no-sandbox', // Chromium's own sandbox refuses to start as root, which CI machines often are
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The path of an installed Chromium or Chrome: CORDON_CHROMIUM, else the first one on PATH. */
export function findChromium() {
  const own = process.env.CORDON_CHROMIUM;
  if (own) return isExecutable(own) ? own : undefined;
  for (const name of names) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      if (folder !== '' && isExecutable(join(folder, name))) return join(folder, name);
    }
  }
  return undefined;
}

export async function launchChromium() {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    throw new Error('No Chromium was found. Install one or set CORDON_CHROMIUM to its path.');
  }
  return chromium.launch({ executablePath, args: flags, headless: true });
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
