import { afterAll, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { type Known, stateOf, WHY } from '../../src/pages/browser/live/state'
import { inChromium, newPage, shows } from '../pages/support/chromium'
import { picture } from '../pages/support/shop'
import { eventually } from '../support/eventually'
import { createBrowsingWorld, serveSite, startSession } from './support'

const LIVE: Known = {
  ...{ link: 'live', why: null, tries: 0, holds: false, held: false, wanted: null, step: null },
  ...{ idle: false, lost: false },
}

// SQLite only: pages and pictures do not know the database.
describe('the descriptions of live view states (docs/operating.md 5.4)', () => {
  test.each<[Partial<Known>, string, string]>([
    [{ link: 'connecting' }, 'connecting', 'Connecting'],
    [{}, 'live', 'Live'],
    [{ step: 'browser_act' }, 'live', 'Live. The agent is working on the page'],
    [{ idle: true }, 'idle', 'Live. No step is running'],
    [{ holds: true, held: true }, 'control', 'You have control. Press Ctrl+Alt+Esc to leave the picture'],
    [{ held: true, idle: true }, 'other', 'Someone else has control'],
    [{ wanted: 'sign in', step: 'browser_act' }, 'wanted', 'A person is needed: sign in'],
    [{ link: 'away', tries: 3 }, 'reconnecting', 'Reconnecting, try 3'],
    [{ lost: true, step: 'browser_act' }, 'swapped', 'The page was lost and is reopening'],
    [{ link: 'over', why: WHY[4410]! }, 'ended', 'The session has ended'],
    [
      { link: 'over', why: WHY[4401]! },
      'expired',
      'This link has expired. Get a new link from the page where you found it.',
    ],
    [{ link: 'away', why: WHY[4429]!, tries: 2 }, 'blocked', 'Too many viewers in this session. Try 2'],
    [{ link: 'over', why: WHY[4501]! }, 'unconfigured', 'This server has no browser'],
    [{ link: 'over', why: WHY[1008]! }, 'refused', 'The server closed this view'],
  ])('%j', (known, name, words) => {
    expect(stateOf({ ...LIVE, ...known })).toEqual({ name, words })
  })
})

inChromium('what a viewer is shown (docs/operating.md 5.4)', async () => {
  const world = await createBrowsingWorld()
  world.app.api.listen({ port: 0, hostname: '127.0.0.1' })
  const origin = `http://127.0.0.1:${world.app.api.server!.port}`
  world.app.listensAt(origin)
  afterAll(() => world.app.api.stop(true))
  const site = serveSite({
    '/': `<title>Till</title><style>body{font:1.2em/2 sans-serif;margin:3em;background:#f4efe6}input,button{font:inherit;padding:.2em .6em;margin:0 1em 0 .4em}</style><h1>Till two</h1><label>Code <input id=i></label><label>Pin <input id=p type=password></label>
      <button onclick="document.title='Sold '+document.querySelector('#i').value">Sell</button>`,
  })
  const person = await world.person()
  const innerOf = (id: string) => world.app.container.browser.host.find(id as never)!.live.page()

  /** A live view whose messages to its parent are kept: it is its own parent. */
  async function look(url: string): Promise<Page> {
    const page = await newPage({})
    await page.evaluateOnNewDocument(() => {
      const notices: object[] = []
      Object.assign(window, { notify: notices })
      addEventListener('message', ({ data }) => data?.source === 'svc-browser' && notices.push(data))
    })
    await page.goto(url)
    return page
  }
  type Notice = { type: string; reason?: string; live_view_version: number; will_retry?: boolean }
  const notifiedTo = (page: Page) => page.evaluate(() => (window as unknown as { notify: Notice[] }).notify)
  const press = (page: Page, words: string) =>
    page.evaluate((text) => {
      for (const button of document.querySelectorAll('button')) if (button.textContent?.includes(text)) button.click()
    }, words)
  const shoot = async (page: Page, name: string) => {
    if (process.env.SVC_SHOTS) await page.screenshot({ path: `${process.env.SVC_SHOTS}/state-${name}.png` })
  }

  test('a crashed page is reopened: the version grows and the picture returns without a reload', async () => {
    const session = await startSession(person, { url: site.url() })
    const page = await look(session.handle.embed_url)
    await eventually(async () => (await notifiedTo(page)).some(({ type }) => type === 'connected'))
    const dead = innerOf(session.id)
    void (await dead.createCDPSession()).send('Page.crash').catch(() => undefined)
    await eventually(async () => (await notifiedTo(page)).filter(({ type }) => type === 'connected').length === 2)
    const notices = await notifiedTo(page)
    expect(notices.find(({ type }) => type === 'disconnected')).toMatchObject({
      reason: 'target_lost',
      will_retry: true,
    })
    expect(notices.findLast(({ type }) => type === 'version')!.live_view_version).toBe(2)
    expect(innerOf(session.id)).not.toBe(dead)
    await shows(page, '[role=status]', 'Live')
    expect(await session.act('type 7 in Code')).toMatchObject({ status: 'success' })
    await shows(page, '[role=status]', 'Live. No step is running')
    await shoot(page, 'idle')
    // The last tab that closes itself leaves an empty one.
    await innerOf(session.id).close()
    expect((await session.go(site.url())).status).toBe('success')
    await page.close()
  }, 180_000)

  test('with the text view a person fills in a field, which is kept, and a password, which is not', async () => {
    const session = await startSession(person, { url: site.url() })
    const page = await look(session.handle.embed_url)
    await shows(page, '[role=status]', 'Live')
    await eventually(async () => (await notifiedTo(page)).some(({ type }) => type === 'connected'))
    await picture(page, 'live-view')
    await press(page, 'Text view')
    await shows(page, '.text h1', 'Till two')
    expect(await page.$eval('.text input', (field) => (field as HTMLInputElement).disabled)).toBe(true)
    await press(page, 'Take control')
    await page.waitForSelector('.text input:enabled')
    const type = async (place: number, words: string) => {
      await (await page.$$('.text input'))[place]!.focus()
      await page.keyboard.type(words)
      await page.keyboard.press('Tab')
    }
    await type(0, 'blue')
    await eventually(
      async () => (await innerOf(session.id).$eval('#i', (field) => (field as HTMLInputElement).value)) === 'blue',
    )
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('.text input')?.value === 'blue')
    await type(1, 'hunter2')
    await eventually(
      async () => (await innerOf(session.id).$eval('#p', (field) => (field as HTMLInputElement).value)) === 'hunter2',
    )
    await shoot(page, 'text')
    await press(page, 'button Sell')
    await eventually(async () => (await innerOf(session.id).title()) === 'Sold blue')
    const steps = async () => (await person.send('GET', `browser/sessions/${session.id}/recording`)).body.actions
    await eventually(async () => (await steps()).length === 3)
    expect(
      (await steps()).map(({ tool, input }: { tool: string; input: string }) => [tool, input.replace(/^e\d+$/, 'ref')]),
    ).toEqual([
      ['type', 'blue'],
      ['type', '[typed into a password field]'],
      ['press', 'ref'],
    ])
    await page.close()
  }, 180_000)

  test('the twenty-first viewer is told that the session is full, and one whose link is over asks for another', async () => {
    const session = await startSession(person, { url: site.url() })
    const token = new URL(session.handle.live_view_url).searchParams.get('token')
    const others = Array.from({ length: 20 }, () => {
      const ws = new WebSocket(`${origin.replace('http', 'ws')}/embed/browser/${session.id}/stream`)
      ws.onopen = () => ws.send(JSON.stringify({ type: 'hello', token }))
      return ws
    })
    const { host } = world.app.container.browser
    await eventually(() => host.find(session.id as never)!.viewers === 20)
    const page = await look(session.handle.live_view_url)
    await shows(page, '[role=status]', 'Too many viewers in this session')
    await shoot(page, 'blocked')
    for (const ws of others) ws.close()
    await eventually(() => host.find(session.id as never)!.viewers <= 1)
    await shows(page, '[role=status]', 'Live')
    await session.end()
    await shows(page, '[role=status]', 'The session has ended')
    await shoot(page, 'ended')
    expect((await notifiedTo(page)).some(({ type, reason }) => type === 'ended' && reason === 'call')).toBe(true)
    await page.close()
  }, 180_000)
})
