import { existsSync } from 'node:fs'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell', '/usr/bin/google-chrome']

/** Where a Chromium is; null where there is none. */
export const chromiumPath: string | null =
  [process.env.BUN_CHROME_PATH, ...PLACES].find((place) => place && existsSync(place)) ?? null
