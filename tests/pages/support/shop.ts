import { afterAll } from 'bun:test'
import { mkdirSync } from 'node:fs'
import type { Frame, Page } from 'puppeteer-core'
import { centsToMicro } from '../../../src/kernel/money'
import { listChats, takeChat } from '../../../src/widgets/operators'
import { listen } from '../../support/listening'
import { createWorld, operatorCall } from '../../support/world'
import { newPage } from './chromium'

const PASSWORD = 'correct horse battery'
/** Set to a folder, pictures of the pages are kept there (`bun run make pictures`). */
const PICTURES = Bun.env.SVC_PICTURES
/** Pictures of the README, which has a light and a dark one. */
const IN_BOTH_LOOKS = ['chat-person', 'inbox', 'live-view']

/** Keeps a picture of a page where pictures are asked for. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!PICTURES) return
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: `${PICTURES}/${name}.png` as never })
  if (!IN_BOTH_LOOKS.includes(name)) return
  const still = { name: 'prefers-reduced-motion', value: 'reduce' }
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }, still])
  await page.screenshot({ path: `${PICTURES}/${name}-dark.png` as never })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }, still])
}

/** The whole product on a socket, a shop on another origin that has its widget, and who owns it. */
export async function createShop() {
  const world = await createWorld({ config: { signup: 'open' } })
  const { origin } = listen(world)
  world.app.listensAt(origin)
  let tag = ''
  const shop = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(shopPage(tag), { headers: { 'content-type': 'text/html; charset=utf-8' } }),
  })
  afterAll(() => shop.stop(true))
  let people = 0

  /** A person who made an account in the browser, with credit. */
  async function signUp(page: Page): Promise<string> {
    const email = `sam${++people}@shop.example.com`
    await page.goto(`${origin}/sign-up`)
    await page.type('#email', email)
    await page.type('#name', 'Sam')
    await page.type('#password', PASSWORD)
    await Promise.all([page.waitForNavigation(), page.click('button[type="submit"]')])
    const { store, orgs, billing } = world.app.container
    const user = await orgs.userByEmail(store.read, email)
    const grant = {
      owner: `user:${user!.id}` as const,
      amount: centsToMicro(10_000),
      ref: email,
      kind: 'grant' as const,
      note: null,
    }
    await store.write((tx) => billing.grant(tx, grant))
    return email
  }

  /** Makes a key and a widget as the console does, with the session of the page; returns the id of the widget. */
  async function makeWidget(page: Page, more: object = {}): Promise<string> {
    const [cookie] = await page.cookies(origin)
    const send = async (method: string, path: string, body: object) => {
      const headers = { cookie: `${cookie!.name}=${cookie!.value}`, 'sec-fetch-site': 'same-origin' }
      const answer = await world.send(method, path, body, headers)
      if (answer.status >= 300) throw new Error(answer.text)
      return answer.body
    }
    const { id: api_key_id } = await send('POST', 'keys', { name: 'Shop' })
    const security = { allowedOrigins: [shop.url.origin] }
    const { id } = await send('POST', 'iframes', { name: 'Lamp shop', api_key_id, security, ...LOOK, ...more })
    tag = (await send('GET', `iframes/${id}`, {})).embed_snippet
    return id
  }

  return {
    world,
    origin,
    shopUrl: shop.url.href,
    signUp,
    makeWidget,
    /** Somebody else takes the newest chat of a widget. */
    async takeAs(name: string, id: string): Promise<void> {
      const { deps } = world.app.container.widgets
      const { conversations } = await listChats(deps, operatorCall(), id, { limit: 1 })
      await takeChat(
        deps,
        operatorCall(),
        { id, sessionId: conversations[0]!.session_id },
        { operator_name: name, force: true },
      )
    },
    /** The shop, as a visitor sees it. */
    async visit(look: Parameters<typeof newPage>[0] = {}): Promise<Page> {
      const page = await newPage(look)
      await page.goto(shop.url.href)
      return page
    },
  }
}

const LOOK = {
  appearance: { title: 'Lamp shop', primaryColor: '#0f5c4a', borderRadius: 16 },
  behavior: {
    welcomeMessage: 'Hello! I can help with lamps, orders and delivery.',
    suggestedPrompts: ['What is 12 * 7?', 'How many days are there from 2026-01-01 to 2026-03-01?'],
    mode: 'fast',
  },
}

/** Says something in the chat and waits until the answer stands there. */
export async function say(page: Page, frame: Frame, text: string): Promise<void> {
  const before = await frame.$$eval('.log:not(.growing) .message.assistant', (rows) => rows.length)
  await frame.type('#field', text)
  await page.keyboard.press('Enter')
  await frame.waitForFunction(
    (count: number) => document.querySelectorAll('.log:not(.growing) .message.assistant').length > count,
    {},
    before,
  )
}

const shopPage = (tag: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lamp shop</title><style>
:root { color-scheme: light dark } body { margin: 0; font: 17px/1.6 Georgia, serif; background: Canvas; color: CanvasText }
header { padding: 1.25rem 2rem; border-bottom: 1px solid GrayText } main { padding: 1.5rem 2rem; max-width: 40rem }
</style></head><body><header><strong>Lamp shop</strong></header><main><h1>Light for every room</h1>
<p>Table lamps, floor lamps and bulbs, made of oak, glass and linen. Delivered in two days.</p>
<p><button id="ask" onclick="svcWidget.open()">Ask us</button></p></main>${tag}</body></html>`
