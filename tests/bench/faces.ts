/**
 * `bun run bench faces [--rounds=15] [--seconds=30]`: what the faces for operators and readers cost. The dashboard in a
 * terminal of 80 × 24: its share of a core while it is only looked at (budget 2 %), and the processor time of one
 * repaint (25 ms). The reference: bytes of its pages (60 KB, packed) and their first paint (200 ms), each beside a page
 * of one word in the same minute. Processor time says the same on a busy machine; paint does not.
 */
import puppeteer from 'puppeteer-core'
import { chromiumPath } from '../pages/support/chromium-path'
import { percentile } from '../support/percentile'
import { openPty, operatorKey } from '../tui/support/pty'
import { startScripted } from '../tui/support/scripted-server'
import { processorMsOf } from './processor'
import { count, print, serveBench } from './setup'

const ROUNDS = count('rounds', 15)
const SECONDS = count('seconds', 30)
const PRESSES = 100
const PAGES = ['/docs', '/docs/errors']

await dashboard()
await reference()
process.exit(0)

async function dashboard(): Promise<void> {
  const server = startScripted()
  const key = operatorKey()
  const at = { cwd: key.folder, env: { HOME: key.folder } }
  const pty = await openPty(['dashboard', '--url', server.url, '--key-file', key.file], at)
  try {
    await pty.shows('● live')
    await Bun.sleep(3_000)
    const [before, bytes] = [processorMsOf(pty.pid), pty.bytes()]
    await Bun.sleep(SECONDS * 1_000)
    const share = (processorMsOf(pty.pid) - before) / (SECONDS * 10)
    const written = ((pty.bytes() - bytes) / SECONDS / 1_024).toFixed(2)
    print(
      `dashboard, only looked at for ${SECONDS} s: ${share.toFixed(2)} % of a core, ${written} KB/s to the terminal`,
    )
    pty.type('2')
    await pty.shows('[2 Jobs]')
    const start = processorMsOf(pty.pid)
    for (let press = 0; press < PRESSES; press++) {
      pty.type(press % 2 ? 'k' : 'j')
      await Bun.sleep(120)
    }
    const spent = processorMsOf(pty.pid) - start - (share / 100) * PRESSES * 120
    print(`dashboard, ${PRESSES} repaints at 80 × 24: ${(spent / PRESSES).toFixed(1)} ms of processor each`)
  } finally {
    await pty.close()
    await server.stop()
    key.remove()
  }
}

async function reference(): Promise<void> {
  if (!chromiumPath) throw new Error('This needs a Chromium: set BUN_CHROME_PATH.')
  const server = await serveBench('faces')
  const word = '<!doctype html><title>Word</title><p>Hello</p>'
  const host = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(word, { headers: { 'content-type': 'text/html' } }),
  })
  const browser = await puppeteer.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] })
  const paints = new Map<string, number[]>()
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      for (const url of [...PAGES.map((path) => server.url + path), host.url.href]) {
        const context = await browser.createBrowserContext()
        const page = await context.newPage()
        await page.goto(url)
        const found = await page.waitForFunction(() => performance.getEntriesByType('paint')[0]?.startTime ?? null)
        // The first round makes the pages and starts the browser's own processes.
        if (round > 0) paints.set(url, [...(paints.get(url) ?? []), (await found.jsonValue())!])
        await context.close()
      }
    }
    await notify(paints, host.url.href)
  } finally {
    await browser.close()
    await server.kill()
    void host.stop(true)
  }
}

async function notify(paints: ReadonlyMap<string, number[]>, word: string): Promise<void> {
  for (const [url, times] of paints) {
    const answer = await fetch(url, { headers: { 'accept-encoding': 'gzip' }, decompress: false })
    const size = ((await answer.arrayBuffer()).byteLength / 1_024).toFixed(1)
    const path = url === word ? 'a page with one word' : new URL(url).pathname
    const at = (share: number) => percentile(times, share).toFixed(0)
    print(`${path}: ${size} KB, painted after ${at(0.5)} ms (best ${at(0)}, worst ${at(1)})`)
  }
}
