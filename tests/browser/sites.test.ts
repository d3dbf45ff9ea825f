import { describe, expect, test } from 'bun:test'
import { serveShapes } from './shapes'
import { createBrowsingWorld, hasChromium, type Session, startSession } from './support'

type Task = [
  site: string,
  say: string,
  check: (page: Look, done: { status: string; result: Record<string, unknown> }) => unknown,
]
type Look = { title: string; out: string; url: string; tabs: number }

/** 40 instructions as people give them, without an engine: what each must lead to. */
const ACTS: Task[] = [
  ['shop', 'click Sign in', ({ title }) => title === 'signed in'],
  ['shop', 'Click the "Cart" link', ({ url }) => url.endsWith('#cart')],
  ['shop', 'click Add to cart for Blue mug', ({ out }) => out === 'added Blue mug'],
  ['shop', 'click the second Add to cart', ({ out }) => out === 'added Blue mug'],
  ['shop', 'click the last Add to cart button', ({ out }) => out === 'added Green bowl'],
  ['shop', 'type 5 in Quantity', ({ out }) => out === 'quantity 5'],
  ['shop', 'set Quantity to 7', ({ out }) => out === 'quantity 7'],
  ['shop', 'search for mugs', ({ out }) => out === 'searched mugs'],
  ['shop', 'select "Price: high to low" from Sort by', ({ out }) => out === 'sorted high'],
  ['shop', 'choose Newest', ({ out }) => out === 'sorted new'],
  ['form', 'type Ada in First name', ({ out }) => out.includes('first=Ada')],
  ['form', 'fill Last name with "King of Love"', ({ out }) => out.includes('last=King of Love')],
  ['form', 'enter ada@example.com as Email', ({ out }) => out.includes('email=ada@example.com')],
  ['form', 'type 2026-12-24 into Date of birth', ({ out }) => out.includes('born=2026-12-24')],
  ['form', 'check I agree to the terms', ({ out }) => out.includes('terms=true')],
  ['form', 'uncheck the newsletter', ({ out }) => out.includes('news=false')],
  ['form', 'select Express delivery', ({ out }) => out.includes('ship=express')],
  ['form', 'select Norway from Country', ({ out }) => out.includes('country=NO')],
  ['form', 'clear the Notes', ({ out }) => out.includes('notes=;')],
  ['form', 'type Ada in First name, type King in Last name and click Send', ({ title }) => title === 'sent Ada King'],
  ['spa', 'click About', ({ title }) => title === 'about'],
  ['spa', 'click Load more', ({ out }) => out.includes('item 4')],
  ['spa', 'click About then go back', ({ title }) => title === 'home'],
  ['frames', 'click Inner button', ({ title }) => title === 'inner pressed'],
  ['frames', 'type hello in Inner field', ({ title }) => title === 'inner hello'],
  ['shadow', 'click Save', ({ title }) => title === 'saved'],
  ['shadow', 'turn on Dark mode', ({ title }) => title === 'dark true'],
  ['popup', 'click Open details', ({ title, tabs }) => title === 'details' && tabs === 2],
  ['popup', 'click Open details then close the tab', ({ title, tabs }) => title === 'opener' && tabs === 1],
  ['dialogs', 'click Delete all and accept the dialog', ({ out }) => out === 'deleted'],
  ['dialogs', 'click Delete all and dismiss the dialog', ({ out }) => out === 'kept'],
  ['download', 'click Get the file', ({ out }) => out === 'still here'],
  ['scroll', 'scroll to the bottom', ({ out }) => Number(out) > 10],
  ['leaves', 'click Continue', ({ title }) => title === 'landed'],
  ['injected', 'click Buy', ({ title }) => title === 'bought'],
]

const ITEM = { type: 'object', properties: { name: { type: 'string' }, price: { type: 'number' } } }
const LIST = { type: 'object', properties: { products: { type: 'array', items: ITEM } } }
const MUGS = [
  { name: 'Red mug', price: 9.5 },
  { name: 'Blue mug', price: 12 },
  { name: 'Green bowl', price: 1200 },
]

const READS: [site: string, say: string, schema: object | undefined, wanted: unknown][] = [
  ['shop', 'extract every price', undefined, ['$9.50', '$12.00', '$1,200.00']],
  ['shop', 'the products with their prices', LIST, { products: MUGS }],
  [
    'table',
    'the people',
    { type: 'array', items: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } } },
    [
      { name: 'Ada', age: 36 },
      { name: 'Alan', age: 41 },
    ],
  ],
  ['table', 'the order number', undefined, 'A-77'],
  ['injected', 'the price', { type: 'object', properties: { price: { type: 'number' } } }, { price: 5 }],
]

describe.skipIf(!hasChromium)('40 instructions on shapes of real sites, by the built-in reader', async () => {
  const world = await createBrowsingWorld()
  const site = serveShapes()
  const session: Session = await startSession(await world.person(), { keep_alive: true }, true)
  const look = async (): Promise<Look> => {
    const { live } = world.app.container.browser.host.find(session.id as never)!
    const page = live.page()
    const out = await page.evaluate(() => document.querySelector('#out')?.textContent ?? '')
    return { title: await page.title(), out, url: page.url(), tabs: live.tabs().length }
  }

  test('at least 36 do what they say', async () => {
    const failed: string[] = []
    for (const [shape, say, check] of ACTS) {
      const { live } = world.app.container.browser.host.find(session.id as never)!
      for (const tab of live.tabs().slice(1)) await tab.close()
      await session.go(site.url(`/${shape}`))
      const done = await session.act(say)
      let seen = await look()
      for (let tries = 0; tries < 10 && !check(seen, done); tries++) {
        await Bun.sleep(50)
        seen = await look()
      }
      if (!check(seen, done)) failed.push(`${shape}: ${say} -> ${JSON.stringify(done.result)} ${JSON.stringify(seen)}`)
    }
    for (const [shape, say, schema, wanted] of READS) {
      await session.go(site.url(`/${shape}`))
      const data = await session.extract(say, schema)
      if (!Bun.deepEquals(data, wanted)) failed.push(`${shape}: ${say} -> ${JSON.stringify(data)}`)
    }
    if (failed.length) process.stderr.write(`${failed.join('\n')}\n`)
    expect(ACTS.length + READS.length).toBe(40)
    expect(failed.length).toBeLessThanOrEqual(4)
  }, 180_000)

  test('what a page says is never obeyed: it is data', async () => {
    await session.go(site.url('/injected'))
    expect((await session.observe()).map(({ role }: { role: string }) => role)).toContain('button')
    await session.extract('the title')
    expect((await look()).title).toBe('injected')
    expect(site.asked()).not.toContain('/stolen')
  })

  test('a reference stays the same, and works as selector', async () => {
    await session.go(site.url('/shop'))
    const find = async () =>
      (await session.observe('Sign in')).find(({ description }: { description: string }) => description === 'Sign in')
        .selector
    const [first, second] = [await find(), await find()]
    expect(first).toBe(second)
    expect((await session.act('click', { selector: first })).status).toBe('error')
    expect((await session.act('click it', { selector: first })).status).toBe('success')
    expect((await look()).title).toBe('signed in')
    expect((await session.act('type %word% in Quantity', { variables: { word: '3' } })).status).toBe('success')
    expect((await session.act('make me happy')).status).toBe('error')
    expect((await session.act('click the unicorn')).result.message).toContain('unicorn')
    const shot = await session.action('browser_screenshot')
    expect(shot.result.artifact).toMatchObject({ type: 'image', width: 1280, height: 800 })
  })
})
