import { accessSync, constants } from 'node:fs'
import type { Browser } from 'puppeteer-core'
import type { Values } from '../kernel/config'
import type { browserSettings } from './config'

type Settings = Values<typeof browserSettings>

/** Where systems install Chromium. The headless shell comes first, because it starts sooner and takes less memory. */
const PATHS = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/lib64/chromium-browser/headless_shell',
  '/usr/lib/chromium/chromium',
  '/usr/lib/chromium-browser/chromium-browser',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

const FLAGS = [
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-extensions',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-breakpad',
  '--hide-scrollbars',
  '--mute-audio',
  '--deny-permission-prompts',
  '--disable-notifications',
  // All traffic must use the session's proxy: no local name lookups, no datagrams, no QUIC.
  '--disable-quic',
  '--dns-prefetch-disable',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
  '--proxy-server=http://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  // Memory limit for the scripts of one page, in MB.
  '--js-flags=--max-old-space-size=384',
  '--renderer-process-limit=24',
]

/** Path of the Chromium that sessions use. Null when there is none. */
export function findChromium({ browserPath }: Pick<Settings, 'browserPath'>): string | null {
  if (browserPath === 'off') return null
  return (browserPath ? [browserPath] : PATHS).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** True if Chromium sandboxes its pages. It refuses to do so for root. */
export const isSandboxed = ({ browserSandbox }: Pick<Settings, 'browserSandbox'>): boolean =>
  browserSandbox === 1 && process.getuid?.() !== 0

/** True if sessions can be started at all. */
export const isConfigured = (settings: Settings): boolean =>
  Boolean(settings.browserWsEndpoint) || findChromium(settings) !== null

/**
 * Starts Chromium, or connects to a remote one. A pipe controls it, so no port is open that a page could reach
 * (docs/attacks.md N5). It ends with this process, even when that is killed (docs/promises.md I34).
 */
export async function startChromium(settings: Settings): Promise<Browser> {
  const { browserWsEndpoint } = settings
  // Loaded on demand, because most servers never start a browser.
  const { default: puppeteer } = await import('puppeteer-core')
  const common = { acceptInsecureCerts: false, defaultViewport: VIEWPORT, protocolTimeout: 30_000 }
  if (browserWsEndpoint) return puppeteer.connect({ browserWSEndpoint: browserWsEndpoint, ...common })
  const path = findChromium(settings)
  if (!path) throw new Error('there is no Chromium')
  return puppeteer.launch({
    executablePath: path,
    headless: /headless[-_]shell/.test(path) ? 'shell' : true,
    pipe: true,
    args: [...FLAGS, ...(isSandboxed(settings) ? [] : ['--no-sandbox'])],
    // This process ends its sessions in order before it stops.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    ...common,
  })
}

/** Size of every page, in CSS pixels. */
export const VIEWPORT = { width: 1280, height: 800 }
