/**
 * `bun run bench console [--rounds=5] [--seconds=2]`: the budgets of the console, each beside what was measured here.
 * In a real browser with 100,000 requests in the log: bytes and calls of the first load, how soon a page is usable with
 * nothing cached, plain and with a processor 4× slower, the longest task, a change of section, a key in a filter, and
 * the main thread's time of a frame while the log scrolls. Then the p99 of calls with twenty consoles open beside none,
 * in turn: each holds its stream and reads again as its page does. The sessions of a person may send 120 requests a
 * minute (docs/api.md 1.6), so the run waits where a page would pass them: a refused page is fast and means nothing.
 * Two quiet cores are needed for times that mean something; the last line says whether they were.
 */
import { Database } from 'bun:sqlite'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import puppeteer, { type Page } from 'puppeteer-core'
import { buildConsole } from '../../src/pages/assets'
import { chromiumPath } from '../pages/support/chromium-path'
import { percentile } from '../support/percentile'
import { cleanEnv, devKeyOf, startServerProcess } from '../support/server-process'
import { fire, requestBytes } from './load'
import { benchFolder, count, OPEN_TIERS, print } from './setup'

const ROUNDS = count('rounds', 5)
const SECONDS = count('seconds', 2)
const PAIRS = count('pairs', 8)
const MANY = 100_000
const FRAMES = 200
const CONSOLES = 20
const CONNECTIONS = 16
/** How far apart the rounds without a console may be for the others to say something. */
const QUIET = 0.1
const ROW_PX = 36
/** Most requests of a page that is opened, of the work on the log, and of the consoles that are opened together. */
const PER_LOAD = 15
const PER_WORK = 110
const PER_CONSOLES = 80

if (!chromiumPath) throw new Error('This needs a Chromium: set BUN_CHROME_PATH.')
const dataDir = benchFolder('console')
const env = { SVC_CACHE_ENABLED: '0', SVC_TIERS: JSON.stringify(OPEN_TIERS) }
const half = (values: number[], share = 0.5) => percentile(values, share)
let refused = 0
const table: { what: string; found: string; budget: string; ok: boolean }[] = []
const put = (what: string, value: number, budget: number, unit: string) =>
  table.push({
    what,
    found: `${value.toFixed(unit === 'calls' ? 0 : 1)} ${unit}`,
    budget: `${budget} ${unit}`,
    ok: value <= budget,
  })

let server = await startServerProcess({ dataDir, env })
const call = () => ({ authorization: `Bearer ${devKeyOf(dataDir)}`, 'content-type': 'application/json' })
await fetch(`${server.url}/api/v1/completions`, {
  method: 'POST',
  headers: call(),
  body: JSON.stringify({ prompt: 'What is 17 * 23?', mode: 'fast' }),
})
await server.stop()
fillLog()
const load = loadavg()[0]!
server = await startServerProcess({ dataDir, env })
const browser = await puppeteer.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] })
try {
  await sizes()
  const session = await signIn()
  for (const slower of [1, 4]) {
    for (const [name, path, selector] of [
      ['overview', '', '.u-wrap'],
      ['requests', '/requests', '.table-body .tr'],
    ] as const) {
      const loads: Load[] = []
      for (let round = 0; round < ROUNDS; round++) loads.push(await firstLoad(session, path, selector, slower))
      const of = (key: keyof Load) => half(loads.map((one) => one[key]))
      put(`${name}: usable, nothing cached, ${slower}×`, of('usableMs'), slower === 1 ? 1_200 : 2_500, 'ms')
      if (slower > 1) continue
      put(`${name}: longest task after load`, of('longestMs'), 100, 'ms')
      put(`${name}: first load with its data`, of('kb'), 180, 'KB')
      put(`${name}: files of the first load`, of('files'), 10, 'calls')
      put(`${name}: calls of the API`, of('calls'), 12, 'calls')
    }
    const { keyMs, sectionMs, frameMs } = await atWork(session, slower)
    put(`requests: a key in the filter is drawn, ${slower}×`, keyMs, slower === 1 ? 50 : 100, 'ms')
    if (slower === 1) put('another section, warm: its frame', sectionMs, 150, 'ms')
    put(`100,000 requests: main thread a frame, ${slower}×`, frameMs, slower === 1 ? 16 : 60, 'ms')
  }
  await browser.close()
  const spread = await beside(session)
  put('refused by the limit', refused, 0, 'calls')
  report(spread)
} finally {
  await browser.close()
  await server.kill()
}
process.exit(table.every(({ ok }) => ok) ? 0 : 1)

/** Copies the one call of the log, a second apart, into the closed database. */
function fillLog(): void {
  const db = new Database(join(dataDir, 'svc.db'))
  const own = ['id', 'at', 'request_id', 'seq', 'event_id', 'prev_hash', 'hash', 'ledger_ref']
  const names = db
    .query<{ name: string }, []>("SELECT name FROM pragma_table_info('usage_records')")
    .all()
    .map(({ name }) => name)
  const same = names.filter((name) => !own.includes(name)).join(', ')
  db.run(`WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${MANY})
    INSERT INTO usage_records (at, request_id, ${same})
    SELECT at - n * 1000, 'req_bench' || n, ${same} FROM n, (SELECT * FROM usage_records LIMIT 1)`)
  db.close()
}

async function sizes(): Promise<void> {
  const { files, script, style } = await buildConsole()
  const kb = (names: string[]) =>
    names.reduce((sum, name) => sum + Buffer.from(files[name]!.brotli, 'base64').length, 0) / 1_024
  put('shell: entry and sheet, Brotli', kb([script, style]), 120, 'KB')
  put('the whole console, Brotli', kb(Object.keys(files)), 600, 'KB')
}

/** Signs in by a link of the command line, as a person does, and returns the cookie. */
async function signIn(): Promise<string> {
  const child = Bun.spawn(['./svc-admin', 'open', 'console', '--print'], {
    env: cleanEnv({ SVC_DATA_DIR: dataDir }),
    stdout: 'pipe',
  })
  const link = /https?:\S+/.exec(await new Response(child.stdout).text())![0]
  const page = await browser.newPage()
  await page.goto(link)
  const button = await page.waitForSelector('button[value="sign-in"]')
  await Promise.all([page.waitForNavigation(), button!.click()])
  const cookie = (await page.browserContext().cookies()).find(({ name }) => name === 'svc_session')!
  await page.close()
  return cookie.value
}

/** Waits until the person may send so many requests more. */
async function roomFor(session: string, requests: number): Promise<void> {
  for (;;) {
    const { headers } = await fetch(`${server.url}/api/v1/rate-limits`, {
      headers: { cookie: `svc_session=${session}`, 'x-svc-org': 'personal' },
    })
    if (Number(headers.get('x-ratelimit-remaining-requests')) >= requests) return
    // Asking counts too.
    await Bun.sleep(15_000)
  }
}

async function pageOf(session: string, slower: number): Promise<Page> {
  const context = await browser.createBrowserContext()
  await context.setCookie({ name: 'svc_session', value: session, domain: '127.0.0.1', path: '/', httpOnly: true })
  const page = await context.newPage()
  await page.setViewport({ width: 1280, height: 800 })
  page.on('response', (answer) => {
    if (answer.status() === 429) refused++
  })
  await page.emulateCPUThrottling(slower)
  return page
}

type Load = { usableMs: number; longestMs: number; kb: number; files: number; calls: number }

/** From the navigation until what the page is for is drawn and a turn of the main thread is free. */
async function firstLoad(session: string, path: string, selector: string, slower: number): Promise<Load> {
  await roomFor(session, PER_LOAD)
  const page = await pageOf(session, slower)
  const cdp = await page.createCDPSession()
  await cdp.send('Network.enable')
  let [bytes, files, calls] = [0, 0, 0]
  cdp.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  page.on('request', (request) => {
    if (request.url().includes('/api/v1/')) calls++
    else files++
  })
  await page.evaluateOnNewDocument((wanted: string) => {
    const marks = window as unknown as { usable?: number; longest: number }
    marks.longest = 0
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries())
        if (marks.usable && startTime > marks.usable) marks.longest = Math.max(marks.longest, duration)
    }).observe({ type: 'longtask' })
    const look = () => {
      if (!document.querySelector(wanted)) return void requestAnimationFrame(look)
      requestAnimationFrame(() =>
        setTimeout(() => {
          marks.usable = performance.now()
        }),
      )
    }
    look()
  }, selector)
  await page.goto(`${server.url}/console/me${path}`)
  const usable = await page.waitForFunction(() => (window as unknown as { usable?: number }).usable, { polling: 100 })
  await Bun.sleep(700)
  const usableMs = (await usable.jsonValue()) as number
  const longestMs = await page.evaluate(() => (window as unknown as { longest: number }).longest)
  await page.browserContext().close()
  return { usableMs, longestMs, kb: bytes / 1_024, files, calls }
}

/** What a person does on the log: writes into a filter, goes to another section, and scrolls. */
async function atWork(session: string, slower: number) {
  await roomFor(session, PER_WORK)
  const page = await pageOf(session, slower)
  await page.goto(`${server.url}/console/me/requests`)
  await page.waitForSelector('.table-body .tr')
  await page.click('[data-filter]')
  const keyTimes = await page.evaluate(async () => {
    const field = document.querySelector<HTMLInputElement>('[data-filter]')!
    const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!
    const times: number[] = []
    for (const text of ['r', 're', 'req', 'req_', 'req_b', 'req_', 'req', 're', 'r', '']) {
      const start = performance.now()
      write.call(field, text)
      field.dispatchEvent(new Event('input', { bubbles: true }))
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
      times.push(performance.now() - start)
    }
    return times
  })
  const frameMs = await scrolled(page)
  const sectionTimes: number[] = []
  for (let round = 0; round < ROUNDS + 1; round++)
    for (const title of ['Keys', 'Requests'])
      sectionTimes.push(
        await page.evaluate(async (wanted: string) => {
          const start = performance.now()
          document.querySelector<HTMLElement>(`.side a[href$="/${wanted.toLowerCase()}"]`)!.click()
          while (document.querySelector('h1')?.textContent !== wanted) await new Promise(requestAnimationFrame)
          await new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
          return performance.now() - start
        }, title),
      )
  await page.browserContext().close()
  return { keyMs: half(keyTimes), sectionMs: half(sectionTimes.slice(2)), frameMs }
}

/** The main thread's time of a frame in which five new rows come. */
async function scrolled(page: Page): Promise<number> {
  const cdp = await page.createCDPSession()
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  const spent = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1_000
  }
  const before = await spent()
  await page.evaluate(
    async (frames: number, step: number) => {
      for (let frame = 0; frame < frames; frame++) {
        scrollBy(0, step)
        await new Promise(requestAnimationFrame)
      }
    },
    FRAMES,
    5 * ROW_PX,
  )
  return ((await spent()) - before) / FRAMES
}

/** The p99 of calls with twenty consoles open, against none, in pairs; returns how far the rounds without are apart. */
async function beside(session: string): Promise<number> {
  const shot = {
    host: '127.0.0.1',
    port: server.port,
    request: requestBytes('POST', '/api/v1/completions', call(), { prompt: 'What is 17 * 23?', mode: 'fast' }),
  }
  await fire(shot, CONNECTIONS, 3_000)
  const [ratios, rates, alone]: number[][] = [[], [], []]
  for (let pair = 0; pair < PAIRS; pair++) {
    const measured = { none: await fire(shot, CONNECTIONS, 0), open: await fire(shot, CONNECTIONS, 0) }
    for (const kind of pair % 2 ? (['none', 'open'] as const) : (['open', 'none'] as const)) {
      await roomFor(session, PER_CONSOLES)
      const leave = kind === 'open' ? await openConsoles(session) : () => {}
      measured[kind] = await fire(shot, CONNECTIONS, SECONDS * 1_000)
      leave()
    }
    ratios!.push(measured.open.p99Ms / measured.none.p99Ms)
    rates!.push(measured.none.perSecond / measured.open.perSecond)
    alone!.push(measured.none.p99Ms)
  }
  put('calls beside 20 consoles: p99 more by', (half(ratios!) - 1) * 100, 5, '%')
  put('calls beside 20 consoles: fewer by', (half(rates!) - 1) * 100, 2, '%')
  return (half(alone!, 0.75) - half(alone!, 0.25)) / half(alone!)
}

/**
 * Twenty consoles as the server sees them, a half on the overview and a half on the log. Returns how they are closed.
 */
async function openConsoles(session: string): Promise<() => void> {
  const leaving = new AbortController()
  const headers = { cookie: `svc_session=${session}`, 'x-svc-org': 'personal' }
  const read = async (path: string) => {
    const answer = await fetch(`${server.url}/api/v1${path}`, { headers, signal: leaving.signal })
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
    return answer
  }
  const week = () => {
    const now = Math.ceil(Date.now() / 3_600_000) * 3_600_000
    return `from=${new Date(now - 86_400_000).toISOString()}&to=${new Date(now).toISOString()}`
  }
  const overview = async () => {
    for (const path of [
      '/needs',
      '/usage',
      `/usage/series?${week()}&compare=previous`,
      `/usage/series?${week()}&group_by=mode`,
    ])
      await (await read(path)).text()
  }
  const one = async (n: number) => {
    const isLog = n % 2 === 0
    await (isLog ? read('/requests?limit=50').then((answer) => answer.text()) : overview())
    const stream = await read(`/live?topics=${isLog ? 'requests' : 'requests,needs'}`)
    // What comes is read, as a page does; figures are read again every ten seconds at most, which is beyond a round.
    void (async () => {
      for await (const _ of stream.body!) if (leaving.signal.aborted) return
    })().catch(() => {})
  }
  await Promise.all(Array.from({ length: CONSOLES }, (_, n) => one(n)))
  return () => leaving.abort()
}

function report(spread: number): void {
  const [wide, middle] = [Math.max(...table.map(({ what }) => what.length)), 12]
  for (const { what, found, budget, ok } of table)
    print(`${ok ? '✓' : '✗'} ${what.padEnd(wide)}  ${found.padStart(middle)}  budget ${budget}`)
  const isNoisy = load > 1.5 || spread > QUIET
  print(
    `${isNoisy ? '! This machine does other things, so times above their budget say little' : '✓ This machine was quiet'}: load ${load.toFixed(1)} at the start, p99 without a console ${(spread * 100).toFixed(0)} % apart.`,
  )
}
