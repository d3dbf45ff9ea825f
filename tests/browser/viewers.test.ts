import { afterAll, expect, test } from 'bun:test'
import { openSessions } from '../../src/browser'
import { axeProblems, inChromium, newPage, shows } from '../pages/support/chromium'
import { eventually } from '../support/eventually'
import { createBrowsingWorld, serveSite, startSession } from './support'

inChromium('anyone who looks at a session (docs/api.md 16.3, 28.3)', async () => {
  const world = await createBrowsingWorld()
  world.app.api.listen({ port: 0, hostname: '127.0.0.1' })
  const origin = `http://127.0.0.1:${world.app.api.server!.port}`
  world.app.listensAt(origin)
  afterAll(() => world.app.api.stop(true))
  const site = serveSite({
    '/': `<title>Shop</title><body style="margin:0"><button style="width:300px;height:200px" onclick="document.title='Pressed'">Press me</button>
      <input id=i aria-label="Code" style="position:absolute;left:400px;top:0;width:200px;height:100px">
      <input type=password id=p aria-label="Secret" style="position:absolute;left:700px;top:0;width:200px;height:100px">`,
    '/moving': `<title>Moving</title><h1>0</h1><script>setInterval(() => { document.querySelector('h1').textContent = Date.now() }, 30)</script>`,
  })
  const person = await world.person()
  const read = async (id: string) => (await person.send('GET', `browser/sessions/${id}/recording`)).body

  type Message = { type: string; [more: string]: unknown }
  /** A viewer that draws its frames, or not. */
  async function watch(url: string, draws = true) {
    const id = new URL(url).pathname.split('/')[3]
    const ws = new WebSocket(`${origin.replace('http', 'ws')}/embed/browser/${id}/stream`)
    ws.binaryType = 'arraybuffer'
    const frames: number[] = []
    const messages: Message[] = []
    const send = (message: object) => ws.send(JSON.stringify(message))
    ws.onopen = () => send({ type: 'hello', token: new URL(url).searchParams.get('token') })
    ws.onmessage = ({ data }) => {
      if (typeof data === 'string') return void messages.push(JSON.parse(data))
      const length = new DataView(data as ArrayBuffer).getUint32(0)
      frames.push(JSON.parse(new TextDecoder().decode(new Uint8Array(data as ArrayBuffer, 4, length))).seq)
      if (draws) send({ type: 'ack' })
    }
    await eventually(() => messages.some(({ type }) => type === 'hello'))
    return { frames, said: messages, send, close: () => ws.close() }
  }

  test('one that is slow gets the newest frame next and no queue, and keeps nobody waiting (N14)', async () => {
    const session = await startSession(person, { url: site.url('/moving') })
    const slow = await watch(session.handle.live_view_url, false)
    const fast = await watch(session.handle.live_view_url)
    await eventually(() => slow.frames.length === 1 && fast.frames.length > 20)
    expect(slow.frames).toHaveLength(1)
    const before = fast.frames.at(-1)!
    slow.send({ type: 'ack' })
    await eventually(() => slow.frames.length === 2)
    expect(slow.frames[1]!).toBeGreaterThanOrEqual(before)
    expect((await session.observe()).length).toBe(0)
    slow.close()
    fast.close()
  }, 180_000)

  test('a page with a slowed processor and network misses frames, and gets no queue of them', async () => {
    const session = await startSession(person, { url: site.url('/moving') })
    const fast = await watch(session.handle.live_view_url)
    const page = await newPage({})
    await page.evaluateOnNewDocument(() => {
      const seen: number[] = []
      Object.assign(window, { seen })
      const Plain = WebSocket
      const Stored = class extends Plain {
        constructor(url: string | URL) {
          super(url)
          this.addEventListener('message', ({ data }) => {
            if (typeof data === 'string') return
            const length = new DataView(data).getUint32(0)
            seen.push(JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))).seq)
          })
        }
      }
      Object.assign(window, { WebSocket: Stored })
    })
    await page.emulateCPUThrottling(20)
    await page.emulateNetworkConditions({ offline: false, download: 40_000, upload: 40_000, latency: 200 })
    await page.goto(session.handle.live_view_url)
    const seen = () => page.evaluate(() => (window as unknown as { seen: number[] }).seen)
    const missed = (seqs: number[]) => seqs.at(-1)! - seqs[0]! + 1 - seqs.length
    const seqs = await eventually(seen, (found) => found.length > 3 && missed(found) > 3)
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    const before = fast.frames.length
    await eventually(() => fast.frames.length > before + 10)
    fast.close()
    await page.close()
  }, 180_000)

  test('the first picture is there within a second of the start, at best (docs/operating.md 5.4)', async () => {
    const took: number[] = []
    for (let round = 0; round < 5 && !took.some((ms) => ms < 1_000); round++) {
      const began = performance.now()
      const session = await startSession(person, { url: site.url() })
      const viewer = await watch(session.handle.live_view_url)
      await eventually(() => viewer.frames.length > 0)
      took.push(performance.now() - began)
      viewer.close()
      await session.end()
    }
    expect(Math.min(...took)).toBeLessThan(1_000)
  }, 180_000)

  test('what a person does is in the recording, in their name, and no password', async () => {
    const session = await startSession(person, { url: site.url() })
    const viewer = await watch(session.handle.embed_url)
    const click = (x: number, y: number) => {
      viewer.send({ type: 'mouse', kind: 'down', x, y, button: 'left' })
      viewer.send({ type: 'mouse', kind: 'up', x, y, button: 'left' })
    }
    viewer.send({ type: 'take' })
    await eventually(() => viewer.said.some(({ type, holder }) => type === 'state' && holder))
    click(100, 100)
    click(450, 50)
    for (const text of 'ab') viewer.send({ type: 'text', text })
    click(750, 50)
    for (const text of 'hunter2') viewer.send({ type: 'text', text })
    viewer.send({ type: 'reload' })
    viewer.send({ type: 'release' })
    await eventually(async () => (await read(session.id)).actions.length >= 6)
    const { actions } = await read(session.id)
    expect(actions.map(({ by, tool, input }: Record<string, string>) => [by, tool, input])).toEqual([
      ['person', 'click', 'left at 100, 100'],
      ['person', 'click', 'left at 450, 50'],
      ['person', 'type', 'ab'],
      ['person', 'click', 'left at 750, 50'],
      ['person', 'type', '[typed into a password field]'],
      ['person', 'reload', ''],
    ])
    expect(actions[0].target).toEqual({ role: 'button', name: 'Press me' })
    expect(actions[1].target).toEqual({ role: 'textbox', name: 'Code' })
    expect(actions[0].frame_url).toContain('http')
    expect(JSON.stringify(actions)).not.toContain('hunter')
    viewer.close()
  }, 180_000)

  test('is asked for help, and the agent goes on when the wheel is given back', async () => {
    const session = await startSession(person, { url: site.url() })
    const viewer = await watch(session.handle.embed_url)
    const request = session.act('ask a person to sign in')
    await eventually(() => viewer.said.some(({ type, wanted }) => type === 'state' && wanted === 'sign in'))
    // Operators see that it waits, and for what.
    const seen = async () => (await openSessions(world.app.container.store.read)).find(({ id }) => id === session.id)
    await eventually(async () => (await seen())?.waits)
    expect(await seen()).toMatchObject({ wanted: 'sign in' })
    viewer.send({ type: 'take' })
    await eventually(() => viewer.said.some(({ type, holder }) => type === 'state' && holder))
    viewer.send({ type: 'release' })
    expect(await request).toMatchObject({ status: 'success', result: { action: 'a person did it' } })
    await eventually(() => viewer.said.findLast(({ type }) => type === 'state')?.wanted === null)
    viewer.close()
  }, 180_000)

  test('the live view and the player pass axe, light and dark, wide and at 320 pixels', async () => {
    const session = await startSession(person, { url: site.url() })
    await session.act('click Press me')
    const { player_url } = await read(session.id)
    for (const look of [{}, { width: 320, height: 600, dark: true }]) {
      const page = await newPage(look)
      await page.goto(`${session.handle.embed_url}&title=Till%20two`)
      await shows(page, '[role=status]', 'Live')
      await shows(page, 'h1', 'Till two')
      expect(await axeProblems(page)).toEqual([])
      await page.evaluate(() => {
        for (const button of document.querySelectorAll('button')) if (button.textContent === 'Text view') button.click()
      })
      await shows(page, '.text button', 'Press me')
      expect(await axeProblems(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
      if (process.env.SVC_SHOTS)
        await page.screenshot({ path: `${process.env.SVC_SHOTS}/view-${look.width ?? 1000}.png` })
      const player = await newPage(look)
      await player.goto(player_url)
      await shows(player, '[role=status]', 'Step 1 of 1')
      expect(await axeProblems(player)).toEqual([])
      if (process.env.SVC_SHOTS)
        await player.screenshot({ path: `${process.env.SVC_SHOTS}/player-${look.width ?? 1000}.png` })
      await page.close()
      await player.close()
    }
  }, 180_000)

  test('of a thousand sessions asked for at once a person gets three, and the others cost nothing (N8)', async () => {
    const small = await createBrowsingWorld({ config: { browserSessionsPerUser: 3 } })
    const other = await small.person()
    const { host } = small.app.container.browser
    let max = 0
    const ask = async () => {
      const reply = await other.send('POST', 'browser/sessions', {})
      max = Math.max(max, host.open.size)
      return reply
    }
    const all = await Promise.all(Array.from({ length: 1_000 }, ask))
    const refused = all.filter(({ status }) => status !== 201)
    expect(refused).toHaveLength(997)
    const isLimit = ({ status, body }: (typeof all)[number]) =>
      status === 429 && body.error.code === 'browser_session_limit' && body.error.type === 'rate_limit_error'
    expect(refused.filter((reply) => !isLimit(reply))).toEqual([])
    expect(refused[0]!.headers.get('retry-after')).toBe('30')
    // None beyond the bound had a page even for a moment.
    expect(max).toBe(3)
    const { sessions } = (await other.send('GET', 'browser/sessions')).body
    expect(sessions).toHaveLength(3)
    for (const { session_id } of sessions) await other.send('DELETE', `browser/sessions/${session_id}`)
    expect((await other.send('POST', 'browser/sessions', {})).status).toBe(201)
    const { billing, store } = small.app.container
    expect(await billing.verify(store.read)).toEqual([])
  }, 180_000)
})
