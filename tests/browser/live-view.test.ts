import { afterAll, describe, expect, test } from 'bun:test'
import puppeteer from 'puppeteer-core'
import { findChromium } from '../../src/browser/chromium'
import { eventually } from '../support/eventually'
import { createBrowsingWorld, hasChromium, serveSite, startSession } from './support'

describe.skipIf(!hasChromium)('the live view (docs/api.md 16.3)', async () => {
  const world = await createBrowsingWorld()
  world.app.api.listen({ port: 0, hostname: '127.0.0.1' })
  const origin = `http://127.0.0.1:${world.app.api.server!.port}`
  world.app.listensAt(origin)
  const site = serveSite({
    '/': '<title>Shop</title><body style="margin:0"><button style="width:300px;height:200px" onclick="document.title=\'Pressed\'">Press me</button><input id=i style="position:absolute;left:400px;top:20px">',
  })
  // A page of somebody else that frames the live view, as a customer's page does.
  const host = serveSite({
    '/': (request) =>
      new Response(
        `<title>Host</title><script>window.received=[];addEventListener('message',e=>received.push(e.data))</script><iframe sandbox="allow-scripts allow-same-origin" style="width:1000px;height:700px" src="${new URL(request.url).searchParams.get('src')}"></iframe>`,
        { headers: { 'content-type': 'text/html' } },
      ),
  })
  const chromium = await puppeteer.launch({
    executablePath: findChromium({ browserPath: '' })!,
    headless: 'shell',
    pipe: true,
    args: ['--no-sandbox', '--disable-gpu'],
  })
  afterAll(async () => {
    await chromium.close()
    await world.app.api.stop(true)
  })
  const person = await world.person()

  const until = async (check: () => Promise<unknown>) => Boolean(await eventually(check))

  test('is seen and used in a frame of another origin; a forged link is a page of 401', async () => {
    const session = await startSession(person, { url: site.url() })
    const page = await chromium.newPage()
    await page.setViewport({ width: 1100, height: 800 })
    await page.goto(host.url(`/?src=${encodeURIComponent(session.handle.embed_url)}`))
    const received = () =>
      page.evaluate(() => (window as unknown as { received: { type: string; title?: string }[] }).received)
    expect(await until(async () => (await received()).some(({ type }) => type === 'connected'))).toBe(true)
    const frame = page.frames().find((one) => one.url().includes('/embed/browser/'))!
    expect(frame.url()).not.toContain('token')
    const click = (text: string) =>
      frame.evaluate(
        (text) => [...document.querySelectorAll('button')].find((one) => one.textContent === text)?.click(),
        text,
      )
    await click('Take control')
    expect(await until(() => frame.evaluate(() => document.body.textContent.includes('You have control')))).toBe(true)
    // The agent waits while a person has the wheel.
    let agentIsDone = false
    const agent = session.act('type "by the agent" in textbox', { selector: '#i' }).then((done) => {
      agentIsDone = true
      return done
    })
    // The picture moves when the words above it change: where it is, is asked each time.
    const clickAt = async (x: number, y: number) => {
      const box = (await (await frame.$('canvas'))!.boundingBox())!
      await page.mouse.click(box.x + (x / 1280) * box.width, box.y + (y / 800) * box.height)
    }
    const inner = world.app.container.browser.host.find(session.id as never)!.live.page()
    const clicked = (x: number, y: number, then: () => Promise<unknown>) =>
      until(async () => {
        await clickAt(x, y)
        await Bun.sleep(200)
        return then()
      })
    expect(await clicked(150, 100, async () => (await received()).some(({ title }) => title === 'Pressed'))).toBe(true)
    expect(await clicked(450, 30, () => inner.evaluate(() => document.activeElement?.id === 'i'))).toBe(true)
    await page.keyboard.type('by hand')
    expect(
      await until(async () => (await inner.$eval('#i', (node) => (node as HTMLInputElement).value)) === 'by hand'),
    ).toBe(true)
    expect(agentIsDone).toBe(false)
    if (process.env.SVC_SHOTS) await page.screenshot({ path: `${process.env.SVC_SHOTS}/live.png` })
    await click('Text view')
    expect(await until(() => frame.evaluate(() => document.body.textContent.includes('button Press me')))).toBe(true)
    if (process.env.SVC_SHOTS) await page.screenshot({ path: `${process.env.SVC_SHOTS}/text.png` })
    await click('Give back control')
    expect((await agent).status).toBe('success')
    expect(await until(async () => (await received()).some(({ type }) => type === 'version'))).toBe(true)
    await session.end()
    expect(await until(async () => (await received()).some(({ type }) => type === 'ended'))).toBe(true)
    const forged = await fetch(session.handle.embed_url.replace('control', 'view'))
    expect(forged.status).toBe(401)
    expect(forged.headers.get('content-type')).toContain('text/html')
    expect((await fetch(session.handle.embed_url)).status).toBe(401)
    await page.close()
  }, 180_000)

  test('a link to look does not steer, and what no viewer sends closes the stream (N11, N13)', async () => {
    const session = await startSession(person, { url: site.url() })
    const token = (url: string) => new URL(url).searchParams.get('token')!
    const open = (first: object, then: string | object | null) =>
      new Promise<number>((done) => {
        const ws = new WebSocket(`${origin.replace('http', 'ws')}/embed/browser/${session.id}/stream`)
        ws.onopen = () => ws.send(JSON.stringify(first))
        ws.onmessage = ({ data }) => {
          if (typeof data === 'string' && JSON.parse(data).type === 'hello' && then !== null)
            for (const one of Array.isArray(then) ? then : [then])
              ws.send(typeof one === 'string' || one instanceof Uint8Array ? (one as string) : JSON.stringify(one))
        }
        ws.onclose = ({ code }) => done(code)
      })
    const view = { type: 'hello', token: token(session.handle.live_view_url) }
    expect(await open(view, { type: 'take' })).toBe(1008)
    expect(await open(view, { type: 'mouse', kind: 'down', x: 1, y: 1, button: 'left' })).toBe(1008)
    const control = { type: 'hello', token: token(session.handle.embed_url) }
    expect(await open(control, { method: 'Browser.setDownloadBehavior' })).toBe(1008)
    expect(await open(control, 'junk')).toBe(1008)
    expect(await open(control, { method: 'Page.setDocumentContent', params: { html: '' } })).toBe(1008)
    expect(await open(control, new Uint8Array([1, 2, 3]))).toBe(1008)
    expect(
      await open(
        control,
        Array.from({ length: 10_000 }, () => '{"type":"refresh"}'),
      ),
    ).toBe(1008)
    expect(await open(control, 'x'.repeat(10_000_000))).toBeGreaterThan(1000)
    expect(await open({ type: 'hello', token: 'x' }, null)).toBe(4401)
    const refusedNow = async () =>
      (await person.send('GET', 'audit')).body.filter(
        ({ action, entityId }: Record<string, string>) => action === 'browser.link_refused' && entityId === session.id,
      )
    // Each that is refused is recorded for its owner, once a minute at most.
    expect(await refusedNow()).toHaveLength(1)
    for (const forged of [view.token.replace('view', 'control'), 'x', control.token.replace(/^\d/, '9')]) {
      expect((await fetch(`${origin}/embed/browser/${session.id}/live?token=${forged}`)).status).toBe(401)
      expect((await fetch(`${origin}/embed/browser/${session.id}?token=${forged}`)).status).toBe(401)
    }
    expect(await refusedNow()).toHaveLength(1)
    const live = await fetch(`${origin}/embed/browser/${session.id}/live?token=${view.token}&force=1`)
    expect(live.status).toBe(200)
    expect(((await live.json()) as { live_view_version: number }).live_view_version).toBe(2)
    expect((await session.observe()).length).toBeGreaterThan(0)
  }, 180_000)
})
