import { expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { eventually } from '../../support/eventually'
import { axeProblems, inChromium } from '../support/chromium'
import { choose, createConsole, cutIn, go, press, sees, write, wrongIn } from './support/console'
import { furnish } from './support/furnished'

/** Every screen with its address, what stands on it when it is full, and when nothing is there yet. */
const SCREENS = [
  ['', 'Needs a person', 'Your first call'],
  ['requests', 'svc-1-flash', 'No requests in the last 30 days.'],
  ['keys', 'test', null],
  ['engines', 'svc-1-flash', null],
  ['jobs', null as string | null, 'No jobs yet.'],
  ['files', null as string | null, 'No files yet.'],
  ['webhooks', '203.0.112.7', 'No endpoints.'],
  ['team', null as string | null, 'Only you'],
  ['audit', 'webhook.created', null],
  ['playground', 'Answers appear here', 'Answers appear here'],
  ['inbox', 'lamps/oak', 'Nobody is waiting.'],
  ['playground?tab=tests', 'A lamp in a haiku', 'Keep a prompt'],
  ['playground?tab=runs', null as string | null, 'No run yet.'],
  ['routing', 'Support', 'Every prompt is routed by the classifier.'],
  ['routing?tab=corrections', 'Write a poem', 'No corrections.'],
  ['guardrails', 'Personal data', 'No policy.'],
  ['skills', 'E-mail drafter', 'Nothing installed.'],
  ['skills?tab=market', 'Changelog writer', null],
  ['skills?tab=mine', 'Ship notes', 'You have written no skill yet.'],
  ['skills?tab=review', null as string | null, 'You have submitted nothing.'],
  ['workflows', 'Greeting', 'No workflows.'],
  ['workflows?tab=canvases', 'Answer in one sentence', 'No canvases.'],
  ['workflows?tab=hooks', 'order.created', 'No hooks.'],
  ['workflows?tab=events', 'order.created', 'No events.'],
  ['widgets', 'Lamp shop', 'No widget.'],
  ['browser', null as string | null, 'No live browser.'],
  ['billing', 'Balance', null],
  ['settings', 'Single-key', null],
] as const

/** The inbox hears over one long answer and says so in its own words; the others show what the page itself knows. */
const READ_NOTHING: readonly string[] = ['inbox', 'team', 'playground']

inChromium('every screen of the console', async () => {
  const { open, origin, person, world } = await createConsole()
  const rows = await furnish({ world, person })
  const newcomer = await world.person({ ofOrg: false })

  test.each(SCREENS.filter(([, full]) => full !== null))('%s, full', async (path, full) => {
    const { page, problems } = await open(addressOf(path))
    await sees(page, full!)
    expect(await wrongIn(page, nameOf(path))).toEqual([])
    expect(problems).toEqual([])
    await page.close()
  })

  test('what a row opens: editors, runs, the graph, a preview, the conversation', async () => {
    const { page, problems } = await open('/me/routing')
    for (const [path, text] of rows) {
      await page.setViewport({ width: 1280, height: 800 })
      await go(page, `/console/me/${path}`)
      await sees(page, text)
      expect(await wrongIn(page, nameOf(path.replace(/\/[^?]+/, '-row')))).toEqual([])
    }
    expect(problems).toEqual([])
    await page.close()
  })

  test('rules are tried as they are in the form, on a text and on what was asked before', async () => {
    const pathOf = (section: string) => rows.find(([path]) => new RegExp(`^${section}/[^?]+$`).test(path))![0]
    const { page, problems } = await open(`/me/${pathOf('guardrails')}`)
    await choose(page, 'Then', 'block')
    await write(page, 'Text to check', 'Write to ada@example.com')
    await press(page, 'Check it')
    await page.waitForSelector('.try .chip.bad')
    await go(page, `/console/me/${pathOf('routing')}`)
    await press(page, 'Compare')
    await sees(page, 'would get another mode')
    await press(page, 'Add floor')
    await press(page, 'Save')
    await sees(page, 'Saved')
    const { body } = await person.send('GET', `routing-preferences/${pathOf('routing').split('/')[1]}`)
    expect(body.confidence_floor_overrides).toEqual({ fast: 0.85 })
    expect(await wrongIn(page, 'routing-row')).toEqual([])
    expect(problems).toEqual([])
    await page.close()
  })

  test('the inbox finds messages and shows who waits, and the list of widgets counts them', async () => {
    const { page, problems } = await open('/me/inbox')
    const queue = () => page.$$eval('.queue li', (all) => all.length)
    const field = (await page.waitForSelector('[data-filter]'))!
    await field.type('what is 12')
    await eventually(async () => page.url().includes('q='))
    await eventually(queue, (many) => many === 1)
    await field.type(' oaks')
    await sees(page, 'No conversation matches')
    await go(page, '/console/me/inbox')
    await press(page, 'Mine')
    await sees(page, 'No conversation matches')
    await press(page, 'Waiting')
    await eventually(queue, (many) => many === 1)
    await go(page, '/console/me/widgets')
    await press(page, '1', 'link')
    await eventually(async () => page.url().endsWith('/inbox?state=waiting'))
    expect(problems).toEqual([])
    await page.close()
  })

  test.each(SCREENS.filter(([, , empty]) => empty !== null))('%s, with nothing yet', async (path, _, empty) => {
    const { page, problems } = await open(addressOf(path), {}, newcomer)
    await sees(page, empty!)
    expect(await wrongIn(page, `${nameOf(path)}-nothing`)).toEqual([])
    expect(problems).toEqual([])
    await page.close()
  })

  test.each(SCREENS)('%s, forbidden and on its way, says so', async (path) => {
    const { page } = await open('/me/keys', { width: 768, height: 1024 })
    const found: string[] = []
    let isHeld = false
    const held: (() => void)[] = []
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      if (!/\/api\/v1\/|\/inbox\/events/.test(request.url())) return void request.continue()
      if (isHeld) return void held.push(() => void request.abort())
      const error = { code: 'forbidden', message: 'Not now.', request_id: 'req_x' }
      void request.respond({ status: 403, contentType: 'application/json', body: JSON.stringify({ error }) })
    })
    for (const shown of ['.failed.forbidden', '.grey']) {
      isHeld = shown === '.grey'
      await page.goto(`${origin}/console${addressOf(path)}`)
      if (!READ_NOTHING.includes(path)) await page.waitForSelector(shown)
      found.push(...(await wrongHere(page, shown)))
    }
    for (const end of held) end()
    expect(found).toEqual([])
    await page.close()
  })

  test.each(SCREENS)('%s, forced colours and reduced motion: borders stay, nothing moves', async (path, full) => {
    const { page, problems } = await open(addressOf(path), { forced: true })
    if (full) await sees(page, full)
    expect(await wrongHere(page, 'forced')).toEqual([])
    const running = () => document.getAnimations().filter(({ playState }) => playState === 'running').length
    expect(await page.evaluate(running)).toBe(0)
    expect(problems).toEqual([])
    await page.close()
  })
})

const nameOf = (path: string) => path.replace(/\?.*tab=/, '-') || 'overview'
const addressOf = (path: string) => `/me${path && `/${path}`}`

async function wrongHere(page: Page, name: string): Promise<string[]> {
  return [...(await cutIn(page)), ...(await axeProblems(page))].map((problem) => `${name}: ${problem}`)
}
