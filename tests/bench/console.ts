/**
 * `bun run bench console [--rounds=5] [--seconds=10] [--pairs=6]`: the budgets of the console, each printed as soon as
 * it was measured, with its median and quartiles. In a real browser with 100,000 requests in the log: bytes and calls of
 * the first load, how soon a page is usable with nothing cached, plain and with a processor 4× slower, the longest task,
 * a change of section, a key in a filter, and the main thread's time of a frame while the log scrolls. Then the p99 of
 * calls with twenty consoles open beside none, in turn: each holds its stream and reads its figures again as its page
 * does, soon after the stream says that they have changed. Every console belongs to a person of its own, because a person's sessions may send 120 requests a minute
 * (docs/api.md 1.6). The whole ends within five minutes: with less time left there are fewer rounds.
 * Two quiet cores are needed for times that mean something: a figure whose quartiles lie on both sides of its budget is
 * marked `?`, and the last line says whether the machine was quiet.
 */
import { Database } from 'bun:sqlite'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import puppeteer, { type Page } from 'puppeteer-core'
import { buildConsole } from '../../src/pages/assets'
import { chromiumPath } from '../pages/support/chromium-path'
import { percentile } from '../support/percentile'
import { startServerProcess } from '../support/server-process'
import { fire, requestBytes } from './load'
import { benchFolder, count, OPEN_TIERS, print } from './setup'

const ROUNDS = count('rounds', 5)
const SECONDS = count('seconds', 10)
const PAIRS = count('pairs', 6)
const MANY = 100_000
const FRAMES = 200
const CONSOLES = 20
const CONNECTIONS = 16
/** How far apart the quartiles of the rounds without a console may be for the others to say something. */
const QUIET = 0.1
const ROW_PX = 36
const STARTED_MS = performance.now()
/** When the browser has to be done, and when no further pair begins. */
const [BROWSED_MS, PAIRED_MS] = [150_000, 270_000]
const MIN_PAIRS = 4
/** How soon a page on the last day reads its figures again after the news, in seconds. */
const AGAIN_S = 2
const isEarly = (untilMs: number) => performance.now() - STARTED_MS < untilMs

if (!chromiumPath) throw new Error('This needs a Chromium: set BUN_CHROME_PATH.')
const dataDir = benchFolder('console')
const env = { SVC_CACHE_ENABLED: '0', SVC_TIERS: JSON.stringify(OPEN_TIERS) }
let refused = 0
let isOver = false

/** Prints what was measured beside its budget. It is over it only if most of what was measured is. */
function put(what: string, values: readonly number[], budget: number, unit: string): void {
  const of = (share: number) => percentile([...values], share)
  const mark = of(0.5) <= budget && of(0.75) <= budget ? '✓' : of(0.25) <= budget ? '?' : '✗'
  if (mark === '✗') isOver = true
  const spelled = (value: number) => value.toFixed(unit === 'calls' ? 0 : 1)
  const spread = values.length > 1 ? `(${spelled(of(0.25))} to ${spelled(of(0.75))}, n ${values.length})` : ''
  print(
    `${mark} ${what.padEnd(50)} ${`${spelled(of(0.5))} ${unit}`.padStart(12)}  budget ${`${budget} ${unit}`.padEnd(9)} ${spread}`,
  )
}

let server = await startServerProcess({ dataDir, env })
const { slug, orgId, sessions, key } = await settle()
const call = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
await fetch(`${server.url}/api/v1/completions`, {
  method: 'POST',
  headers: call,
  body: JSON.stringify({ prompt: 'What is 17 * 23?', mode: 'fast' }),
})
await server.stop()
fillLog()
const load = loadavg()[0]!
server = await startServerProcess({ dataDir, env })
const browser = await puppeteer.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] })
let person = 0
const nextSession = () => sessions[person++ % sessions.length]!
try {
  await sizes()
  for (const slower of [1, 4]) {
    for (const [name, path, selector] of [
      ['overview', '', '.u-wrap'],
      ['requests', '/requests', '.table-body .tr'],
    ] as const) {
      const loads: Load[] = []
      for (let round = 0; round < ROUNDS && (round === 0 || isEarly(BROWSED_MS)); round++)
        loads.push(await firstLoad(path, selector, slower))
      const of = (key: keyof Load) => loads.map((one) => one[key])
      put(`${name}: usable, nothing cached, ${slower}×`, of('usableMs'), slower === 1 ? 1_200 : 2_500, 'ms')
      if (slower > 1) continue
      put(`${name}: longest task after load`, of('longestMs'), 100, 'ms')
      put(`${name}: first load with its data`, of('kb'), 180, 'KB')
      put(`${name}: files of the first load`, of('files'), 10, 'calls')
      put(`${name}: calls of the API`, of('calls'), 12, 'calls')
    }
    const { keyMs, sectionMs, frameMs } = await atWork(slower)
    put(`requests: a key in the filter is drawn, ${slower}×`, keyMs, slower === 1 ? 50 : 100, 'ms')
    if (slower === 1) put('another section, warm: its frame', sectionMs, 150, 'ms')
    put(`100,000 requests: main thread a frame, ${slower}×`, [frameMs], slower === 1 ? 16 : 60, 'ms')
  }
  await browser.close()
  const spread = await beside()
  put('refused by the limit', [refused], 0, 'calls')
  const isNoisy = load > 1.5 || spread > QUIET
  const word = isNoisy ? '! Too noisy: times above their budget say little' : '✓ This machine was quiet'
  print(
    `${word}: load ${load.toFixed(1)} at the start, p99 without a console ${(spread * 100).toFixed(0)} % apart. ` +
      `It took ${((performance.now() - STARTED_MS) / 1_000).toFixed(0)} s.`,
  )
} finally {
  await browser.close()
  await server.kill()
}
process.exit(isOver ? 1 : 0)

/** An organization with credit, a key, and twenty people who are signed in. */
async function settle() {
  const send = async (url: string, body: object, how: object = {}) => {
    const headers = { 'content-type': 'application/json', 'x-svc-operator': 'bench' }
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), ...how } as RequestInit)
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const ops = (path: string, body: object) =>
    send(`http://localhost/ops/v1${path}`, body, { unix: join(dataDir, 'ops.sock') })
  const org = await ops('/orgs', { name: 'Bench' })
  await ops('/credits', { owner: `org:${org.id}`, amount_cents: 10_000_000 })
  const sessions = []
  for (let n = 0; n < CONSOLES; n++) {
    const user = `person${n}@example.com`
    await ops('/users', { email: user })
    await ops(`/orgs/${org.id}/members`, { user, role: 'admin' })
    const { url } = await ops(`/users/${user}/console-link`, {})
    const { session_token } = await send(`${server.url}/api/v1/auth/links/redeem`, {
      token: new URL(url).hash.slice(1),
    })
    sessions.push(session_token as string)
  }
  const headers = { cookie: `svc_session=${sessions[0]}`, 'x-svc-org': org.id, 'content-type': 'application/json' }
  const made = await send(`${server.url}/api/v1/keys`, { name: 'bench', scope: 'org', org_id: org.id }, { headers })
  return { slug: org.slug as string, orgId: org.id as string, sessions, key: made.key as string }
}

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
  put('shell: entry and sheet, Brotli', [kb([script, style])], 120, 'KB')
  put('the whole console, Brotli', [kb(Object.keys(files))], 600, 'KB')
}

/** A page that has nothing cached, of the next person. */
async function newPage(slower: number): Promise<Page> {
  const context = await browser.createBrowserContext()
  const cookie = { name: 'svc_session', value: nextSession(), domain: '127.0.0.1', path: '/', httpOnly: true }
  await context.setCookie(cookie)
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
async function firstLoad(path: string, selector: string, slower: number): Promise<Load> {
  const page = await newPage(slower)
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
  await page.goto(`${server.url}/console/${slug}${path}`)
  const usable = await page.waitForFunction(() => (window as unknown as { usable?: number }).usable, { polling: 100 })
  await Bun.sleep(700)
  const usableMs = (await usable.jsonValue()) as number
  const longestMs = await page.evaluate(() => (window as unknown as { longest: number }).longest)
  await page.browserContext().close()
  return { usableMs, longestMs, kb: bytes / 1_024, files, calls }
}

/** What a person does on the log: writes into a filter, goes to another section, and scrolls. */
async function atWork(slower: number) {
  const page = await newPage(slower)
  await page.goto(`${server.url}/console/${slug}/requests`)
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
  return { keyMs: keyTimes, sectionMs: sectionTimes.slice(2), frameMs }
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
async function beside(): Promise<number> {
  const shot = {
    host: '127.0.0.1',
    port: server.port,
    request: requestBytes('POST', '/api/v1/completions', call, { prompt: 'What is 17 * 23?', mode: 'fast' }),
  }
  await fire(shot, CONNECTIONS, 5_000)
  const [later, fewer, alone]: [number[], number[], number[]] = [[], [], []]
  for (let pair = 0; pair < PAIRS && (pair < MIN_PAIRS || isEarly(PAIRED_MS)); pair++) {
    const round = async () => fire(shot, CONNECTIONS, SECONDS * 1_000)
    const open = async () => {
      const leave = await openConsoles()
      const measured = await round()
      leave()
      return measured
    }
    const first = pair % 2 ? await open() : await round()
    const second = pair % 2 ? await round() : await open()
    const [none, beside] = pair % 2 ? [second, first] : [first, second]
    later.push((beside.p99Ms / none.p99Ms - 1) * 100)
    fewer.push((none.perSecond / beside.perSecond - 1) * 100)
    alone.push(none.p99Ms)
  }
  put('calls beside 20 consoles: p99 later by', later, 5, '%')
  put('calls beside 20 consoles: fewer by', fewer, 2, '%')
  return (percentile(alone, 0.75) - percentile(alone, 0.25)) / percentile(alone, 0.5)
}

/**
 * Twenty consoles as the server sees them, a half on the overview of the last day and a half on the log. Returns how
 * they are closed.
 */
async function openConsoles(): Promise<() => void> {
  const leaving = new AbortController()
  const read = async (session: string, path: string, more: Record<string, string> = {}) => {
    const headers = { cookie: `svc_session=${session}`, 'x-svc-org': orgId, ...more }
    const answer = await fetch(`${server.url}/api/v1${path}`, { headers, signal: leaving.signal })
    if (answer.status === 429) refused++
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
    return answer
  }
  const now = Math.ceil(Date.now() / 3_600_000) * 3_600_000
  const day = `from=${new Date(now - 86_400_000).toISOString()}&to=${new Date(now).toISOString()}`
  const figures = [`/usage/series?${day}&compare=previous`, `/usage/series?${day}&group_by=mode`, '/usage']
  const readFigures = async (session: string, headers?: Record<string, string>) =>
    Promise.all(figures.map(async (path) => (await read(session, path, headers)).text()))
  const one = async (session: string, n: number) => {
    const isLog = n % 2 === 0
    await (await read(session, isLog ? '/requests?limit=50' : '/needs')).text()
    if (!isLog) await readFigures(session)
    const stream = await read(session, `/live?topics=${isLog ? 'requests' : 'usage,needs'}`)
    const readAgain = async () => {
      await Bun.sleep(AGAIN_S * 1_000 + 100)
      await readFigures(session, { 'cache-control': `max-age=${AGAIN_S}` })
    }
    // What comes is read, as a page does.
    void (async () => {
      for await (const text of stream.body!.pipeThrough(new TextDecoderStream())) {
        if (leaving.signal.aborted) return
        if (!isLog && text.includes('event: delta') && text.includes('"topic":"usage"'))
          void readAgain().catch(() => {})
      }
    })().catch(() => {})
  }
  await Promise.all(sessions.map(one))
  return () => leaving.abort()
}
