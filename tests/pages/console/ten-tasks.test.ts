import { afterAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Page } from 'puppeteer-core'
import { users } from '../../../src/accounts/orgs/table'
import { operatorSender } from '../../operators/support'
import { eventually } from '../../support/eventually'
import { createReceiver, LOCAL, webhooksIn } from '../../webhooks/support'
import { inChromium } from '../support/chromium'
import { createConsole, press, sees, tabTo, write } from './support/console'
import { furnish } from './support/furnished'

type Role = 'owner' | 'member' | 'operator'
/** What a person does or finds on a page. `row` opens the first row, `absent` is a link or button that must not be there. */
type Step =
  | readonly ['link' | 'button' | 'begins' | 'sees' | 'absent' | 'disabled', string]
  | readonly ['write', label: string, text: string]
  | readonly ['row', within: string]
  | readonly ['enter' | 'workers']

const link = (name: string) => ['link', name] as const
const button = (name: string) => ['button', name] as const
/** A button whose words go on after these. */
const begins = (words: string) => ['begins', words] as const
const shows = (text: string) => ['sees', text] as const
const absent = (name: string) => ['absent', name] as const
const row = ['row', ''] as const
const delivery = ['row', '.drawer'] as const
const enter = ['enter'] as const
/** From here on the server's workers run, which carry on what waits. */
const workers = ['workers'] as const

/**
 * Ten tasks of people at work. Each begins at the overview, and is done or refused as the role allows. The owner does
 * all of them by keyboard alone: with Tab, Enter and what is typed.
 */
const TASKS: readonly (readonly [task: string, Record<Role, readonly Step[]>])[] = [
  [
    'see what was spent, and what needs a person',
    {
      owner: [shows('Needs a person'), shows('Spend'), shows('visitor waits for a person')],
      member: [shows('Needs a person'), shows('Spend')],
      operator: [shows('Needs a person'), shows('Spend today'), shows('waiting for a person')],
    },
  ],
  [
    'find out what happened to a call, and what it cost',
    {
      owner: [link('Requests'), row, shows('Why this engine'), shows('Charged')],
      member: [link('Requests'), row, shows('Why this engine'), shows('Charged')],
      operator: [link('Requests'), row, shows('Route'), shows('Duration')],
    },
  ],
  [
    'make a key for a program',
    {
      owner: [link('Keys'), button('Create key'), ['write', 'Name', 'web shop'], enter, shows('“web shop” is ready')],
      member: [link('Keys'), ['disabled', 'Create key'], shows('Your role member cannot create keys.')],
      operator: [link('Keys'), shows('Prefix'), absent('Create key')],
    },
  ],
  [
    'send a prompt and take over its code',
    {
      owner: [link('Playground'), ['write', 'Prompt', 'What is 17 * 23?'], enter, shows('total'), shows('391')],
      member: [link('Playground'), ['write', 'Prompt', 'What is 17 * 23?'], enter, shows('total'), shows('391')],
      operator: [absent('Playground')],
    },
  ],
  [
    'resend a delivery that failed',
    {
      owner: [link('Webhooks'), row, delivery, button('Send again'), shows('It is sent again')],
      member: [absent('Webhooks')],
      operator: [link('Webhooks'), row, shows('Deliveries'), absent('Send again')],
    },
  ],
  [
    'approve a run that waits',
    {
      owner: [workers, link('Workflows'), row, button('Approve…'), button('Approve'), shows('3 of 3 steps')],
      member: [link('Workflows'), row, begins('3 of 3 steps'), shows('Your role member cannot do this.')],
      operator: [link('Workflows'), row, shows('Runs'), absent('Delete…')],
    },
  ],
  [
    'answer a visitor',
    {
      owner: [link('Inbox'), shows('Ines'), begins('Ines'), button('Take over'), shows('Hand back to the assistant')],
      member: [link('Inbox'), shows('Ines'), begins('Ines'), begins('Take from'), shows('Hand back to the assistant')],
      operator: [link('Inbox'), shows('Ines'), row, button('Give back'), shows('with the assistant')],
    },
  ],
  [
    'invite a colleague',
    {
      owner: [
        ...[link('Team'), button('Invite'), ['write', 'E-mail address', 'grace@example.com'] as const, enter],
        shows('Send this link to grace@example.com'),
      ],
      member: [link('Team'), ['disabled', 'Invite'], shows('Your role member cannot invite.')],
      operator: [absent('Team'), link('Platform'), link('Organizations'), row, shows('Members')],
    },
  ],
  [
    'see a month of usage, or grant credit',
    {
      owner: [link('Billing'), button('Usage of a month…'), shows('Closing balance')],
      member: [absent('Billing')],
      operator: [
        link('Platform'),
        link('Organizations'),
        row,
        shows('Balance'),
        button('Grant credit…'),
        shows('Reason'),
      ],
    },
  ],
  [
    'connect a model',
    {
      owner: [link('Engines'), shows('The operator of this server connects models'), absent('Add engine')],
      member: [link('Engines'), shows('svc-1-flash'), absent('Add engine')],
      operator: [link('Engines'), button('Add engine'), shows('It is encrypted and never shown.')],
    },
  ],
]

inChromium('ten tasks, as an owner, a member and an operator', async () => {
  const { open, world } = await createConsole({ config: LOCAL })
  const { jobs } = world.app.container
  let working: ReturnType<typeof jobs.start> | undefined
  afterAll(() => working?.stop())
  const owner = await world.person({ ofOrg: true })
  // A person may send 120 requests a minute, and a page sends up to ten. So two owners work in turn.
  const [member, partner, operator] = [await world.person(), await world.person(), await world.person({ ofOrg: false })]
  for (const [user, role] of [
    [member.userId, 'member'],
    [partner.userId, 'owner'],
  ])
    await operatorSender(world)('POST', `orgs/${owner.orgId}/members`, { user, role })
  await world.app.store.write((tx) =>
    tx
      .update(tx.of(users))
      .set({ platform_role: 'admin' })
      .where(eq(tx.of(users).id, operator.userId)),
  )
  await operatorSender(world)('POST', 'credits', { owner: owner.userId, amount_cents: 500 })
  const { slug } = (await owner.send('GET', `orgs/${owner.orgId}`)).body
  await furnish({ world, person: owner })
  let answers = 500
  let turn = 0
  const receiver = createReceiver(() => new Response(null, { status: answers }))
  const hooks = webhooksIn(world)
  await hooks.make(owner, receiver.url)
  await hooks.publish(owner)
  await hooks.deliver()
  answers = 200
  const people = {
    owner: { person: owner, at: `/${slug}` },
    member: { person: member, at: `/${slug}` },
    operator: { person: operator, at: '/all' },
  }

  const cells = TASKS.flatMap(([task, of]) =>
    Object.keys(of).map((role) => [task, role as Role, of[role as Role]] as const),
  )
  test.each(cells)('%s: %s', async (_, role, steps) => {
    const { person, at } = people[role]
    const { page, problems } = await open(at, {}, role === 'owner' && turn++ % 2 ? partner : person)
    await page.waitForSelector('.side li a')
    for (const step of steps) {
      if (step === workers) working ??= jobs.start()
      else await take(page, step, role === 'owner')
    }
    expect(problems).toEqual([])
    await page.close()
  })
})

async function take(page: Page, [kind, name = '', text = '']: Step, byKeys: boolean): Promise<void> {
  const named = (selector: string) =>
    page.$$eval(
      selector,
      (all, wanted) =>
        all.filter((it) => (it.getAttribute('aria-label') ?? it.textContent ?? '').startsWith(wanted)).length,
      name,
    )
  /** Goes there by Tab and presses Enter. */
  const enter = async (wanted: string, within: string, isWhole = false) => {
    await tabTo(page, wanted, { within, isWhole })
    await page.keyboard.press('Enter')
  }
  if (kind === 'sees') return void (await sees(page, name))
  if (kind === 'write' && byKeys) {
    await page.waitForSelector(`aria/${name}[role="textbox"]`, { visible: true })
    await tabTo(page, name, { within: 'input, textarea' })
    return page.keyboard.type(text)
  }
  if (kind === 'write') return write(page, name, text)
  if (kind === 'enter') return page.keyboard.press('Enter')
  if (kind === 'row') {
    const rows = `${name} .table-body a`
    await page.waitForSelector(rows)
    return byKeys ? enter('', rows) : page.click(rows)
  }
  if (kind === 'absent') {
    await page.waitForNetworkIdle({ idleTime: 200 })
    return expect(await named('.side a, button')).toBe(0)
  }
  if (kind === 'disabled') {
    await page.waitForSelector('.page-head .button:disabled')
    return expect(await named('.page-head .button:disabled')).toBe(1)
  }
  if (kind === 'button' && !byKeys) return press(page, name)
  if (kind === 'button') {
    await page.waitForSelector(`aria/${name}[role="button"]`)
    return enter(name, 'button', true)
  }
  // A link of the navigation may go on with how many wait there.
  const selector = kind === 'link' ? 'a' : 'button:not(:disabled)'
  await eventually(
    () => named(selector),
    (many) => many > 0,
  )
  if (byKeys) return enter(name, selector)
  await page.$$eval(
    selector,
    (all, wanted) => (all.find((it) => it.textContent?.startsWith(wanted)) as HTMLElement).click(),
    name,
  )
}
