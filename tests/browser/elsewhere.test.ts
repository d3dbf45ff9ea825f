import { afterAll, describe, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import puppeteer from 'puppeteer-core'
import { findChromium } from '../../src/browser/chromium'
import { createBrowsingWorld, hasChromium, serveSite, startSession } from './support'

/** A Chromium as another machine would run it, which answers at a port. */
async function startElsewhere() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-chromium-'))
  const path = findChromium({ browserPath: '' })!
  const args = ['--remote-debugging-port=0', '--no-sandbox', '--disable-gpu', '--headless', `--user-data-dir=${folder}`]
  const child = spawn(path, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  afterAll(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let text = ''
  child.stderr.on('data', (chunk) => {
    text += chunk
    const [, url] = /DevTools listening on (ws:\S+)/.exec(text) ?? []
    if (url) resolve(url)
  })
  child.once('exit', () => reject(new Error(`Chromium ended: ${text}`)))
  return { url: await promise, child }
}

/** The proxy of an operator: tunnels for everyone who has the password, counted. */
async function startProxy() {
  const requests: { authority: string; login: string }[] = []
  const server = createServer((client: Socket) => {
    client.on('error', () => client.destroy())
    client.once('data', (head) => {
      const text = head.toString('latin1')
      const [, authority = ''] = /^CONNECT (\S+)/.exec(text) ?? []
      const [, basic = ''] = /^proxy-authorization: basic (\S+)/im.exec(text) ?? []
      requests.push({ authority, login: Buffer.from(basic, 'base64').toString() })
      const upstream = connect(Number(authority.split(':').at(-1)), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n')
        client.pipe(upstream).pipe(client)
      })
      upstream.on('error', () => client.destroy())
      client.on('close', () => upstream.destroy())
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  afterAll(() => void server.close())
  return { asked: requests, url: `http://ada:pass%20word@127.0.0.1:${(server.address() as { port: number }).port}` }
}

const big = 'x'.repeat(1_200_000)
const pages = {
  '/': '<title>Shop</title><h1>Shop</h1><button onclick="document.title=\'Sold\'">Buy</button>',
  '/big': `<title>Big</title><p>${big}</p>`,
}

describe.skipIf(!hasChromium)('a browser that runs elsewhere (SVC_BROWSER_WS_ENDPOINT)', async () => {
  const elsewhere = await startElsewhere()
  const world = await createBrowsingWorld({ config: { browserWsEndpoint: elsewhere.url, browserPath: 'off' } })
  const person = await world.person()
  const hits: string[] = []
  const private_ = Bun.serve({
    port: 0,
    hostname: '127.0.0.2',
    fetch() {
      hits.push('reached')
      return new Response('no')
    },
  })
  afterAll(() => private_.stop(true))
  const site = serveSite({ ...pages, '/nosy': `<title>Nosy</title><img src="http://127.0.0.2:${private_.port}/">` })

  test('is worked as one of this server, through the same door, and is left running', async () => {
    const session = await startSession(person, { url: site.url() })
    expect((await session.act('click Buy')).status).toBe('success')
    expect((await person.send('GET', `browser/sessions/${session.id}`)).body.current_title).toBe('Sold')
    await session.go(site.url('/nosy'))
    expect(hits).toEqual([])
    const [one, other] = await Promise.all([startSession(person), startSession(person)])
    await Promise.all([session.end(), one.end(), other.end()])
    await (await startSession(person, { url: site.url() })).end()
    await world.app.container.browser.host.close()
    expect(elsewhere.child.exitCode).toBeNull()
    const looking = await puppeteer.connect({ browserWSEndpoint: elsewhere.url })
    expect(looking.browserContexts()).toHaveLength(1)
    await looking.disconnect()
  }, 180_000)
})

describe.skipIf(!hasChromium)('a session with `proxies` (docs/api.md 16.1, 16.2)', async () => {
  const proxy = await startProxy()
  const person = await (await createBrowsingWorld({ config: { browserUpstreamProxy: proxy.url } })).person()
  const site = serveSite(pages)

  test('leaves by the proxy of the operator, with its password, and is charged by the MB; others do not', async () => {
    const plain = await startSession(person, { url: site.url() })
    await plain.go(site.url('/big'))
    expect(proxy.asked).toEqual([])
    expect((await plain.end()).body.proxy_bytes).toBe(0)
    const session = await startSession(person, { proxies: true })
    await session.go(site.url('/big'))
    expect(proxy.asked[0]).toEqual({ authority: `127.0.0.1:${site.port}`, login: 'ada:pass word' })
    // The door is before the proxy: what it does not let through the proxy never hears of.
    const before = proxy.asked.length
    await session.go('http://10.0.0.1/')
    expect(proxy.asked.slice(before).map(({ authority }) => authority)).not.toContain('10.0.0.1:80')
    const { body } = await session.end()
    expect(body.proxy_bytes).toBeGreaterThan(1_200_000)
    expect(body.cost_cents).toBeGreaterThanOrEqual(2)
  }, 180_000)
})
