import { expect, test } from 'bun:test'
import { signatureHeaders } from '../../../src/kernel/webhook-signature'
import { operatorSender } from '../../operators/support'
import { createReceiver, LOCAL, webhooksIn } from '../../webhooks/support'
import { inChromium } from '../support/chromium'
import { createConsole, press, sees, write, wrongIn } from './support/console'

inChromium('people and endpoints in the console', async () => {
  const { open, world, person } = await createConsole({ config: LOCAL })
  const receiver = createReceiver((_, nth) => new Response(null, { status: nth === 1 ? 500 : 204 }))
  const { deliver, log, make, publish } = webhooksIn(world)
  const boss = await world.person({ ofOrg: true })
  const other = await world.person({ ofOrg: false })
  const slug = async () => (await boss.send('GET', `orgs/${boss.orgId}`)).body.slug as string

  test('who is in the organization, and as what', async () => {
    const ops = operatorSender(world)
    for (const [name, role] of [
      ['Ada Brandt', 'admin'],
      ['Priya Nair', 'member'],
      ['Tomás Ruiz', 'viewer'],
    ]) {
      const member = await world.person({ ofOrg: false })
      await (await world.signedIn(member)).send('PATCH', 'auth/me', { name })
      await ops('POST', `orgs/${boss.orgId}/members`, { user: member.userId, role })
    }
    const { page, problems } = await open(`/${await slug()}/team`, {}, boss)
    await sees(page, 'Priya Nair')
    expect(await wrongIn(page, 'team')).toEqual([])
    expect(problems).toEqual([])
    await page.close()
  })

  test('a person is invited, joins by the link, gets another role and is removed', async () => {
    const team = `/${await slug()}/team`
    const { page, problems } = await open(team, {}, boss)
    const { email, name } = (await other.send('GET', 'auth/me')).body.user
    await press(page, 'Invite')
    await write(page, 'E-mail address', email)
    expect(await wrongIn(page, 'team-invite')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.click('.form button[type=submit]')
    await sees(page, 'Send this link to')
    const link = await page.$eval('[aria-label="link"] code', (it) => it.textContent ?? '')
    await press(page, 'Done')
    await press(page, 'Invitations', 'link')
    await sees(page, email)
    expect(await wrongIn(page, 'team-invitations')).toEqual([])
    const token = new URL(link).hash.slice(1)
    expect((await other.send('POST', `invitations/${token}/accept`, {})).status).toBe(200)
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Members', 'link')
    await page.reload()
    await press(page, name ?? email, 'link')
    await press(page, 'Change role…')
    await (await page.waitForSelector('.dialog select'))!.select('viewer')
    await press(page, 'Change role')
    await page.waitForFunction(() => document.querySelector('.dialog') === null)
    const { members } = (await boss.send('GET', `orgs/${boss.orgId}/members`)).body
    expect(members.find((it: { email: string }) => it.email === email).role).toBe('viewer')
    await press(page, 'Remove…')
    await press(page, 'Remove')
    await page.waitForFunction((gone: string) => !document.body.textContent!.includes(gone), {}, name ?? email)
    expect(problems).toEqual([])
    await page.close()
  })

  test('an open invitation gets a new link, and is withdrawn', async () => {
    const { page, problems } = await open(`/${await slug()}/team`, {}, boss)
    const invited = await boss.send('POST', `orgs/${boss.orgId}/invitations`, {
      email: 'a@example.com',
      role: 'member',
    })
    await press(page, 'Invitations', 'link')
    await press(page, 'a@example.com', 'link')
    await press(page, 'Make a new link')
    await sees(page, 'works once')
    expect((await other.send('POST', `invitations/${invited.body.token}/accept`, {})).status).toBe(404)
    await press(page, 'Withdraw…')
    await press(page, 'Withdraw')
    await sees(page, 'No invitation is open.')
    await press(page, 'Roles', 'link')
    await sees(page, 'guardrails and webhooks')
    expect(await wrongIn(page, 'team-roles')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Organization', 'link')
    await sees(page, 'Hand over and delete')
    expect(await wrongIn(page, 'team-organization')).toEqual([])
    expect(problems).toEqual([])
    await page.close()
  })

  test('a personal account makes an organization', async () => {
    const { page, problems } = await open('/me/team', {}, other)
    await press(page, 'Create an organization')
    await write(page, 'Name', 'Lamp makers')
    await press(page, 'Create')
    await page.waitForFunction(() => location.pathname.endsWith('/lamp-makers/team'))
    await sees(page, 'Members')
    expect(problems).toEqual([])
    await page.close()
  })

  test('events of an endpoint are chosen from the catalogue; a delivery is opened and sent again', async () => {
    const { page, problems } = await open('/me/webhooks')
    await press(page, 'Add endpoint')
    await write(page, 'Address', receiver.url)
    await page.evaluate(() => {
      for (const it of document.querySelectorAll('.events > summary'))
        if (it.textContent!.startsWith('job')) (it as HTMLElement).click()
    })
    await press(page, 'job.completed A job completed.', 'checkbox')
    await sees(page, 'What it holds')
    await write(page, 'Your own events and event families', 'order.created')
    expect(await wrongIn(page, 'webhooks-new')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.click('.form button[type=submit]')
    await sees(page, 'shown only now')
    const secret = await page.$eval('.drawer input[readonly]', (it) => (it as HTMLInputElement).value)
    const code = await page.$eval('[aria-label="TypeScript code"] code', (it) => it.textContent ?? '')
    await verifies(code, secret)
    expect(await wrongIn(page, 'webhooks-secret')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'I have stored it')
    const [made] = (await person.send('GET', 'webhooks')).body.webhooks
    expect(made.event_types).toEqual(['completion.created', 'job.completed', 'order.created'])
    await press(page, receiver.url, 'link')
    await (await page.waitForSelector('[aria-label="Event of the test"]'))!.select('job.failed')
    const isSent = page.waitForResponse((it) => it.url().endsWith('/test'))
    await press(page, 'Send a test')
    await isSent
    await deliver()
    await page.locator('.drawer .table-body a').click()
    await sees(page, 'svc-webhook-id')
    expect(await wrongIn(page, 'webhooks-delivery')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Send again')
    await sees(page, 'It is sent again')
    await deliver()
    expect(receiver.got).toHaveLength(2)
    expect(receiver.got[1]!.body).toBe(receiver.got[0]!.body)
    await press(page, 'Close')
    await press(page, 'Close', 'button')
    await sees(page, 'Last delivery')
    expect(await wrongIn(page, 'webhooks')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, receiver.url, 'link')
    await press(page, 'Rotate the secret…')
    await press(page, 'Rotate the secret')
    await sees(page, 'shown only now')
    expect(problems).toEqual([])
    await page.close()
  })

  test('deliveries that are marked are sent again together', async () => {
    const owner = await world.person({ ofOrg: false })
    const server = createReceiver(() => new Response(null, { status: 500 }))
    const { id } = await make(owner, server.url)
    for (const n of [1, 2, 3]) await publish(owner, 'order.created', { n })
    await deliver()
    const [first, , third] = await log(owner, id)
    const { page, problems } = await open(`/me/webhooks/${id}?status=failed`, {}, owner)
    const retried: string[] = []
    page.on('response', (it) => {
      if (it.ok() && it.url().endsWith('/retry')) retried.push(it.url().split('/').at(-2)!)
    })
    await sees(page, '3 attempts, 3 failed')
    const marks = () => page.$$eval('.drawer .mark-box', (all) => all.map((it) => it.matches(':checked')))
    await page.focus('.drawer .table-body a')
    for (const key of ['x', 'ArrowDown', 'ArrowDown', 'x'] as const) await page.keyboard.press(key)
    await sees(page, '2 rows marked')
    expect(await marks()).toEqual([true, false, true])
    expect(await wrongIn(page, 'deliveries-marked')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Send again')
    await sees(page, 'Send again: 2 rows')
    await page.$$eval('.veil button', (all) => all.find((it) => it.textContent === 'Send again')!.click())
    await page.waitForFunction(() => !document.querySelector('.marked'))
    expect(retried.toSorted()).toEqual([first.id, third.id].toSorted())
    expect(problems).toEqual([])
    await page.close()
  })

  test('endpoints that are marked are switched off together', async () => {
    const owner = await world.person({ ofOrg: false })
    for (const path of ['a', 'b'])
      await owner.send('POST', 'webhooks', { url: `${receiver.url}/${path}`, event_types: ['*'] })
    const enabled = async () =>
      (await owner.send('GET', 'webhooks')).body.webhooks.map((it: { enabled: boolean }) => it.enabled)
    const { page, problems } = await open('/me/webhooks', {}, owner)
    await page.waitForFunction(() => document.querySelectorAll('.table-body .mark-box').length === 2)
    for (const box of await page.$$('.table-body .mark-box')) await box.click()
    await sees(page, '2 rows marked')
    const offered = await page.$$eval('.marked button', (all) => all.map(({ textContent }) => textContent))
    expect(offered).toEqual(['Switch off', 'Delete…', 'Clear'])
    expect(await wrongIn(page, 'webhooks-marked')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.click('.marked button')
    await sees(page, 'Switch off: 2 rows')
    await page.$$eval('.veil button', (all) => all.find((it) => it.textContent === 'Switch off')!.click())
    await page.waitForFunction(() => !document.querySelector('.marked'))
    expect(await enabled()).toEqual([false, false])
    expect(problems).toEqual([])
    await page.close()
  })
})

/** The code that the page shows takes what this server signs, and nothing else. */
async function verifies(code: string, secret: string): Promise<void> {
  process.env.SVC_WEBHOOK_SECRET = secret
  const program = new Bun.Transpiler({ loader: 'ts' }).transformSync(code)
  const { isGenuine } = await import(`data:text/javascript;base64,${Buffer.from(program).toString('base64')}`)
  const headers = (body: string) =>
    new Headers(signatureHeaders({ id: 'evt_1', timestampS: Math.floor(Date.now() / 1_000), body, secret }))
  expect(isGenuine(headers('{"a":1}'), '{"a":1}')).toBe(true)
  expect(isGenuine(headers('{"a":1}'), '{"a":2}')).toBe(false)
}
