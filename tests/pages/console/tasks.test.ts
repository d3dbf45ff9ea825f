import { expect, test } from 'bun:test'
import { operatorSender } from '../../operators/support'
import { eventually } from '../../support/eventually'
import { createReceiver, LOCAL, webhooksIn } from '../../webhooks/support'
import { widgetsIn } from '../../widgets/world'
import { inChromium, newPage } from '../support/chromium'
import { createConsole, press, sees, write, wrongIn } from './support/console'

/** Tasks of somebody who was told only what to do, not where: each begins at the overview, by what is read there. */
inChromium('tasks of a stranger', async () => {
  const { open, person, world, origin } = await createConsole({ config: LOCAL })
  const owner = await world.person({ ofOrg: true })
  const { slug } = (await owner.send('GET', `orgs/${owner.orgId}`)).body
  let answers = 500
  const receiver = createReceiver(() => new Response(null, { status: answers }))

  test('invite a member, who joins by the link', async () => {
    const { page, problems } = await open(`/${slug}`, {}, owner)
    await press(page, 'Team', 'link')
    await press(page, 'Invite')
    await write(page, 'E-mail address', 'grace@example.com')
    await page.keyboard.press('Enter')
    await sees(page, 'Send this link to grace@example.com')
    const link = await page.$eval('pre[aria-label="link"]', (box) => box.textContent!)
    await press(page, 'Done')
    await page.waitForSelector('.table-body a')
    await sees(page, 'grace@example.com')
    const theirs = await newPage({ width: 1280, height: 800 })
    await theirs.goto(link)
    expect(link).toStartWith(origin)
    await theirs.waitForSelector('input[type="password"]')
    await theirs.type('input[type="password"]', 'correct horse battery')
    await theirs.keyboard.press('Enter')
    await sees(theirs, 'Overview')
    expect(problems).toEqual([])
  })

  test('resend a delivery that failed', async () => {
    const hooks = webhooksIn(world)
    const { id } = await hooks.make(person, receiver.url)
    await hooks.publish(person)
    await hooks.deliver()
    const { page, problems } = await open('/me')
    await press(page, 'Webhooks', 'link')
    await page.waitForSelector('.table-body a')
    await page.click('.table-body a')
    await sees(page, 'order.created')
    answers = 200
    await page.click('.drawer .table-body a')
    await sees(page, 'Next attempt')
    await press(page, 'Send again')
    await sees(page, 'It is sent again')
    await hooks.deliver()
    await eventually(
      () => page.$$eval('.drawer .table-body .tr', (all) => all.map((row) => row.textContent)),
      (found) => found.some((text) => text?.includes('200')),
    )
    expect((await hooks.log(person, id)).map(({ status }: { status: string }) => status)).toContain('success')
    expect(problems).toEqual([])
  })

  test("answer a visitor's chat", async () => {
    const shop = widgetsIn(world)
    const { id } = await shop.widget({}, person)
    const chat = await shop.begin(id, { page_url: 'https://shop.example/lamps/oak' })
    await shop.say(chat, 'Is the oak lamp in stock?')
    await shop.asVisitor(chat)('POST', '/request-human', { reason: 'A discount' })
    const { page, problems } = await open('/me')
    await press(page, '1 visitor waits for a person', 'link')
    await sees(page, 'shop.example/lamps/oak')
    const waits = () => page.$eval('.queue time', (time) => time.textContent ?? '')
    const first = await eventually(waits, (text) => /^0:\d\d$/.test(text))
    await eventually(waits, (text) => text > first)
    await page.click('.queue button')
    await sees(page, 'Is the oak lamp in stock?')
    await press(page, 'Take over')
    // The reply has the focus, so one writes at once.
    await page.waitForSelector('#reply:focus')
    await page.keyboard.type('It is: three are left.')
    await page.keyboard.press('Enter')
    const heard = async () => (await shop.transcript(person, chat)('GET')).text
    await eventually(heard, (text) => text.includes('three are left'))
    await eventually(
      () => page.$$eval('.side .count', (all) => all.length),
      (many) => many === 0,
    )
    expect(problems).toEqual([])
  })

  test('export a month of usage', async () => {
    await person.send('POST', 'completions', { prompt: 'Count to four', mode: 'fast' })
    const { page, problems } = await open('/me')
    await press(page, 'Billing', 'link')
    await press(page, 'Usage of a month…')
    await sees(page, 'Closing balance')
    const exported = page.waitForResponse((answer) => answer.url().includes('/usage/export'))
    await press(page, 'Its calls as CSV')
    const answer = await exported
    expect(answer.status()).toBe(200)
    expect(problems).toEqual([])
  })

  test('a member without keys sees whom to ask, and can still read what a call cost', async () => {
    const member = await world.person()
    await operatorSender(world)('POST', `orgs/${owner.orgId}/members`, { user: member.userId, role: 'member' })
    await owner.send('POST', 'completions', { prompt: 'Count to five', mode: 'fast' })
    const { page, problems } = await open(`/${slug}/keys`, {}, member)
    await sees(page, 'Your role member cannot create keys. Ask an owner or admin: ')
    expect(await page.$eval('.page-head .primary, .button.primary', (it) => (it as HTMLButtonElement).disabled)).toBe(
      true,
    )
    await press(page, 'Requests', 'link')
    await sees(page, '1 request, 0 refused or failed.')
    await page.waitForSelector('.table-body a')
    await page.click('.table-body a')
    await sees(page, 'Charged')
    expect(await wrongIn(page, 'member-request')).toEqual([])
    expect(problems).toEqual([])
  })

  test('give a key a voice', async () => {
    const { page, problems } = await open('/me')
    await press(page, 'Keys', 'link')
    await page.waitForSelector('.table-body a')
    await page.click('.table-body a')
    await press(page, 'Set the brand soul…')
    await sees(page, 'The voice of the answers')
    expect(await wrongIn(page, 'brand-soul')).toEqual([])
    await page.click('.dialog input[type="checkbox"]')
    await write(page, 'Who answers', 'Mira of the lamp shop')
    await press(page, 'Set the brand soul')
    const soul = async () => (await person.send('GET', `keys/${person.keyId}`)).body.brand_soul
    await eventually(soul, (it) => it?.enabled === true && it.persona === 'Mira of the lamp shop')
    expect(problems).toEqual([])
  })
})
