/**
 * `bun run bench frame [--rounds=15] [--slower=4]`: how soon the chat of a widget is painted (budget 150 ms) and ready
 * (300 ms) with a slowed processor and nothing cached: as a page of its own, counted from its navigation, and in a page
 * of another origin, counted from the frame's. Beside each stands what a page and a frame with one word take in the
 * same minute: a browser that paints nothing sooner says nothing about the chat.
 */
import puppeteer, { type Frame, type Page } from 'puppeteer-core'
import { chromiumPath } from '../pages/support/chromium-path'
import { percentile } from '../support/percentile'
import { count, print, serveBench } from './setup'

const ROUNDS = count('rounds', 15)
const SLOWER = count('slower', 4)
/** Seldom, so that looking does not slow it down. */
const POLLED = { polling: 250, timeout: 20_000 }
if (!chromiumPath) throw new Error('This needs a Chromium: set BUN_CHROME_PATH.')

const server = await serveBench('frame')
const { ask } = server
let tag = ''
const host = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) => new Response(pageAt(new URL(url).pathname), { headers: asHtml() }),
})
const browser = await puppeteer.launch({
  executablePath: chromiumPath,
  headless: true,
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking'],
})
try {
  const { keys } = await ask<{ keys: { id: string }[] }>('keys')
  const security = { allowedOrigins: [host.url.origin] }
  const widget = await ask<{ id: string; embed_snippet: string }>('iframes', {
    api_key_id: keys[0]!.id,
    security,
    behavior: { welcomeMessage: 'Hello! I can help.', suggestedPrompts: ['Where is my order?'] },
  })
  tag = widget.embed_snippet.replace(/src="[^"]+"/, `src="${server.url}/embed.js"`)
  const { token } = await ask<{ token: string }>(`iframes/${widget.id}/preview-token`, {})
  const kinds: { name: string; measure(): Promise<Times>; times: Times[] }[] = [
    {
      name: 'a page of its own',
      measure: () => timesOf(`${server.url}/embed/widget/${widget.id}?preview=${token}`),
      times: [],
    },
    { name: 'a page with one word', measure: () => timesOf(`${host.url}word`), times: [] },
    {
      name: 'in a page of another origin',
      measure: () => framedTimes(host.url.href, '/embed/widget/'),
      times: [],
    },
    { name: 'a frame with one word', measure: () => framedTimes(`${host.url}framed`, '/word'), times: [] },
  ]
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { measure, times } of kinds) {
      // A browser on a busy machine may lose a frame, and with it the entry of its paint.
      const measured = await measure().catch((error) => {
        process.stderr.write(`a round without a time: ${error}\n`)
      })
      // The first round has the server build its files.
      if (round > 0 && measured) times.push(measured)
    }
  }
  for (const { name, times } of kinds) report(name, times)
} finally {
  await browser.close()
  await server.kill()
  void host.stop(true)
}
process.exit(0)

type Times = { paint: number; ready: number }

function pageAt(path: string): string {
  const inside = path === '/framed' ? '<iframe src="/word"></iframe>' : tag
  return path === '/word'
    ? '<!doctype html><title>Word</title><p>Hello</p><script>performance.mark("ready")</script>'
    : `<!doctype html><title>Shop</title><h1>Shop</h1>${inside}`
}

function asHtml() {
  return { 'content-type': 'text/html; charset=utf-8' }
}

async function slowPage(work: (page: Page) => Promise<Times>): Promise<Times> {
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  await page.emulateCPUThrottling(SLOWER)
  return work(page).finally(() => context.close())
}

function timesOf(url: string): Promise<Times> {
  return slowPage(async (page) => {
    await page.goto(url)
    return measured(page.mainFrame())
  })
}

function framedTimes(url: string, part: string): Promise<Times> {
  return slowPage(async (page) => {
    await page.goto(url)
    return measured(await page.waitForFrame((frame) => frame.url().includes(part)))
  })
}

/** Milliseconds since the navigation of this frame. */
async function measured(frame: Frame): Promise<Times> {
  const found = await frame.waitForFunction(() => {
    const [paint] = performance.getEntriesByType('paint')
    const [ready] = performance.getEntriesByName('ready')
    return paint && ready ? { paint: paint.startTime, ready: ready.startTime } : null
  }, POLLED)
  return (await found.jsonValue())!
}

function report(what: string, times: Times[]): void {
  if (!times.length) throw new Error(`${what}: no round had a time.`)
  const at = (name: keyof Times, share: number) =>
    percentile(
      times.map((one) => one[name]),
      share,
    ).toFixed(0)
  print(
    `${what}, processor ${SLOWER}× slower: painted after ${at('paint', 0.5)} ms (${at('paint', 0)} to ${at('paint', 1)}), ready after ${at('ready', 0.5)} ms (${at('ready', 0)} to ${at('ready', 1)})`,
  )
}
