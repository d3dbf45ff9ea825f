import { afterAll, describe, expect, test } from 'bun:test'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { eventually } from '../support/eventually'
import { createBrowsingWorld, hasChromium, serveSite, startSession } from './support'

/** Listens where no page may reach: each connection or datagram is counted. */
async function openCanary() {
  const reached: string[] = []
  const tcp = createServer((socket) => {
    reached.push('tcp')
    socket.on('error', () => undefined)
    socket.end('HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 2\r\n\r\nhi')
  })
  await new Promise<void>((done) => tcp.listen(0, '127.0.0.2', done))
  const { port } = tcp.address() as { port: number }
  const udp = createSocket('udp4')
  udp.on('message', () => reached.push('udp'))
  await new Promise<void>((done) => udp.bind(port, '127.0.0.2', done))
  afterAll(() => {
    tcp.close()
    udp.close()
  })
  return { port, reached, url: (path = '/') => `http://127.0.0.2:${port}${path}` }
}

describe.skipIf(!hasChromium)('what a page cannot reach (catalogue N)', async () => {
  const canary = await openCanary()
  // The sites of this test are on 127.0.0.1; 127.0.0.2 is as private as any other address.
  const world = await createBrowsingWorld()
  const person = await world.person()
  const off = canary.url()
  const probes = `
    const seen = []
    const note = (name, ok) => seen.push(name + (ok ? ':REACHED' : ''))
    const tries = [
      ['fetch', () => fetch('${off}')],
      ['no-cors', () => fetch('${off}', { mode: 'no-cors' }).then(() => Promise.reject(0))],
      ['redirected', () => fetch('/to-canary')],
      ['localhost', () => fetch('http://localhost:${canary.port}/')],
      ['decimal', () => fetch('http://2130706434:${canary.port}/')],
      ['mapped', () => fetch('http://[::ffff:127.0.0.2]:${canary.port}/')],
      ['v6', () => fetch('http://[::1]:${canary.port}/')],
      ['metadata', () => fetch('http://169.254.169.254/latest/meta-data/')],
      ['debugger', () => fetch('http://127.0.0.1:9222/json')],
      ['file', () => fetch('file:///etc/passwd')],
      ['beacon', async () => { navigator.sendBeacon('${off}', 'x'); throw 0 }],
      ['image', () => new Promise((ok, no) => { const i = new Image(); i.onload = ok; i.onerror = no; i.src = '${off}x.png' })],
      ['script', () => new Promise((ok, no) => { const s = document.createElement('script'); s.onload = ok; s.onerror = no; s.src = '${off}x.js'; document.head.append(s) })],
      ['websocket', () => new Promise((ok, no) => { const w = new WebSocket('ws://127.0.0.2:${canary.port}/'); w.onopen = ok; w.onerror = no })],
      ['events', () => new Promise((ok, no) => { const e = new EventSource('${off}'); e.onopen = ok; e.onerror = no })],
      ['worker', () => new Promise((ok, no) => { const w = new Worker(URL.createObjectURL(new Blob(["fetch('${off}').then(() => postMessage(1), () => postMessage(0))"]))); w.onmessage = (m) => m.data ? ok() : no() })],
      ['peer', async () => { const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.2:${canary.port}' }] }); p.createDataChannel('x'); await p.setLocalDescription(await p.createOffer()); await new Promise((r) => setTimeout(r, 500)); throw 0 }],
      ['transport', async () => { const t = new WebTransport('https://127.0.0.2:${canary.port}/'); await t.ready }],
      ['place', () => new Promise((ok, no) => navigator.geolocation.getCurrentPosition(ok, no))],
      ['camera', () => navigator.mediaDevices.getUserMedia({ video: true })],
      ['notify', async () => { if ((await Notification.requestPermission()) !== 'granted') throw 0 }],
    ]
    const bound = (p) => Promise.race([p, new Promise((_, no) => setTimeout(() => no('late'), 4000))])
    Promise.all(tries.map(([name, go]) => bound(Promise.resolve().then(go)).then(() => note(name, true), () => note(name, false)))).then(() => {
      document.querySelector('#out').textContent = seen.sort().join(' ')
      document.title = 'done'
    })`
  const site = serveSite({
    '/': `<title>probing</title><link rel="dns-prefetch" href="${off}"><link rel="preconnect" href="${off}"><link rel="prefetch" href="${off}">
      <iframe src="${off}frame"></iframe><img src="${off}img"><h1>Probe</h1><p id=out></p><script>${probes}</script>`,
    '/to-canary': () => Response.redirect(off, 302),
    '/leaves': `<title>Leaves</title><script>location = 'file:///etc/passwd'; setTimeout(() => location = '${off}', 50); setTimeout(() => location = 'chrome://version', 100)</script>`,
    '/file': () =>
      new Response('MZ', {
        headers: { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment; filename=a.exe' },
      }),
    '/get': '<title>Get</title><a href="/file" download>Download it</a>',
    '/cookies':
      '<title>Cookies</title><p id=c></p><script>const was = document.cookie + localStorage.getItem("k"); document.cookie = "k=1"; localStorage.setItem("k", "1"); c.textContent = "was " + was</script>',
    // What is no object of a script: the bound of its heap does not hold it.
    '/greedy':
      '<title>Greedy</title><script>const kept = []; setInterval(() => { if (kept.length < 60) kept.push(new Uint8Array(16e6).fill(7)) }, 50)</script>',
    '/tabs':
      "<title>Tabs</title><button onclick=\"for (let i = 0; i < 30; i++) window.open('/cookies', 'w' + i)\">Open</button>",
  })

  test('by any way that a page has: no connection', async () => {
    const session = await startSession(person, { url: site.url() })
    const title = async () =>
      (await person.send('GET', `browser/sessions/${session.id}/live?force=1`)).body.pages[0].title
    await eventually(async () => (await title()) === 'done')
    const page = world.app.container.browser.host.find(session.id as never)!.live.page()
    const found = await page.evaluate(() => document.querySelector('#out')!.textContent)
    expect(found).toContain('websocket')
    expect(found).not.toContain('REACHED')
    expect(canary.reached).toEqual([])
  }, 180_000)

  test('by a navigation, its own or a requested one (N1, N2, N20)', async () => {
    const session = await startSession(person, { url: site.url('/leaves') })
    await Bun.sleep(400)
    const { url } = (await person.send('GET', `browser/sessions/${session.id}/live`)).body.pages[0]
    expect(url).not.toMatch(/^(file|chrome):/)
    const request = await session.go(off)
    expect(request).toMatchObject({ status: 'error', result: { message: expect.stringContaining('cannot be called') } })
    expect((await session.go(site.url('/to-canary'))).status).toBe('error')
    await session.end()
    const addresses = [
      ...[
        'file:///etc/passwd',
        'chrome://settings',
        'view-source:file:///etc',
        'about:blank#',
        'data:text/html,x',
        'javascript:1',
      ],
      ...['blob:http://a.example/x', 'ftp://a.example/', 'https://u:p@a.example/', off, 'http://[::1]/'],
      ...[
        'http://2130706434/',
        'http://0x7f000002/',
        'http://0177.0.0.2/',
        'http://10.0.0.1/',
        'http://169.254.169.254/',
      ],
      ...['http://a.example:22/', 'http://127.2/', 'http://[::ffff:127.0.0.2]/', 'http://①②⑦.0.0.2/'],
    ]
    for (const url of addresses) {
      const { status, body } = await person.send('POST', 'browser/sessions', { url })
      expect({ url, status, code: body.error?.code, param: body.error?.param }).toEqual({
        url,
        status: 400,
        code: 'url_blocked',
        param: 'url',
      })
    }
    expect(canary.reached).toEqual([])
    expect((await person.send('GET', 'browser/sessions')).body.sessions).toEqual([])
  }, 180_000)

  test('by a name that turns private after it was looked up (N4)', async () => {
    const { openEgressProxy } = await import('../../src/browser/egress-proxy')
    const { createOutbound } = await import('../../src/kernel/outbound')
    let looked = 0
    const resolve = async () => [{ address: looked++ % 2 ? '127.0.0.2' : '198.51.100.9', family: 4 }]
    const deny = createOutbound({ resolve, deny: ['198.51.100.0/24'] })
    const proxy = await openEgressProxy({ outbound: deny, listen: '127.0.0.1', upstream: '' }, false)
    const ask = (): Promise<string> =>
      new Promise((done) => {
        let read = ''
        const { hostname, port } = new URL(proxy.url)
        void Bun.connect({
          hostname,
          port: Number(port),
          socket: {
            open: (socket) =>
              void socket.write(`GET http://turns.example:${canary.port}/ HTTP/1.1\r\nHost: turns.example\r\n\r\n`),
            data: (_, chunk) => {
              read += chunk.toString()
            },
            close: () => done(read),
          },
        })
      })
    const answers: string[] = []
    for (let round = 0; round < 100; round++) answers.push(...(await Promise.all(Array.from({ length: 10 }, ask))))
    expect(answers.filter((answer) => !answer.startsWith('HTTP/1.1 403'))).toEqual([])
    expect(looked).toBe(1_000)
    expect(canary.reached).toEqual([])
    proxy.close()
  }, 180_000)

  test('N19: a download is kept as bytes that nothing runs, and the page stays', async () => {
    const session = await startSession(person, { url: site.url('/get') })
    const { result } = await session.act('click Download it')
    expect(result).toMatchObject({ url: site.url('/get'), downloads: [{ filename: 'a.exe', size_bytes: 2 }] })
    expect(result.downloads[0].artifact).toMatchObject({ mime_type: 'application/x-msdownload', filename: 'a.exe' })
  })

  test('N10: what another session keeps; and tabs are bounded', async () => {
    const [one, two] = [
      await startSession(person, { url: site.url('/cookies') }),
      await startSession(person, { url: site.url('/cookies') }),
    ]
    const textOf = (session: typeof one) => session.extract('the c')
    await one.go(site.url('/cookies'))
    expect(await textOf(one)).toBe('was k=11')
    expect(await textOf(two)).toBe('was null')
    await two.go(site.url('/tabs'))
    await two.act('click Open')
    expect((await person.send('GET', `browser/sessions/${two.id}/live`)).body.pages.length).toBeLessThanOrEqual(10)
  }, 180_000)

  test('a page that takes too much memory is ended, and its session goes on (N8)', async () => {
    const small = await createBrowsingWorld({ config: { browserPageMemoryMb: 300 } })
    const other = await small.person()
    const { host, watch } = small.app.container.browser
    const [greedy, modest] = [await startSession(other, { url: site.url('/greedy') }), await startSession(other)]
    const pageOf = (id: string) => host.find(id as never)!.live.page()
    const [took, stored] = [pageOf(greedy.id), pageOf(modest.id)]
    await eventually(async () => {
      await watch()
      return pageOf(greedy.id) !== took
    })
    expect((await greedy.go(site.url('/get'))).status).toBe('success')
    expect(pageOf(modest.id)).toBe(stored)
    expect((await modest.go(site.url('/get'))).status).toBe('success')
  }, 180_000)

  test('N7: only what the order knows is obeyed', async () => {
    for (const input of [{ region: 'mars' }, { keep_alive: 'yes' }, { proxies: 1 }, { url: 7 }]) {
      expect((await person.send('POST', 'browser/sessions', input)).status).toBe(400)
    }
    const session = await startSession(person, {
      args: ['--no-proxy-server'],
      executablePath: '/bin/sh',
      env: { A: '1' },
      expires_at: '2099',
    })
    expect(Date.parse(session.handle.expires_at) - Date.parse(session.handle.started_at)).toBe(1_200_000)
    await session.end()
    expect((await person.send('POST', 'browser/sessions', { proxies: true })).status).toBe(501)
  })
})
