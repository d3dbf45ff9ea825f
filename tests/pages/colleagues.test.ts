import { expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { sessionRepository } from '../../src/widgets/repository'
import type { WidgetSessionId } from '../../src/widgets/schema-sessions'
import { CHAT } from '../../src/widgets/transcript'
import { listen } from '../support/listening'
import { PIXEL } from '../support/pixel'
import { operatorCall, type Person } from '../support/world'
import { createWidgetWorld } from '../widgets/world'
import { press } from './console/support/console'
import { axeProblems, inChromium, newPage, shows } from './support/chromium'
import { picture } from './support/shop'

inChromium('people who answer together', () => {
  test('a note, a draft of the assistant, and a chat that is handed to a colleague', async () => {
    const world = await createWidgetWorld()
    const { origin } = listen(world)
    world.app.listensAt(origin)
    const { store, sessions, orgs } = world.app.container
    const ada = await world.person({ ofOrg: true })
    const bob = await world.person()
    await store.write(async (tx) => {
      const orgId = ada.orgId!
      await orgs.members.join(tx, operatorCall(), { orgId, userId: bob.userId, role: 'member', invitedBy: null })
      await orgs.makeActive(tx, bob.userId, orgId)
    })
    const { id } = await world.widget({ behavior: { enableFileUpload: true } }, ada)
    const chat = await world.begin(id, { page_url: 'https://shop.example/lamps/oak' })
    await world.say(chat, 'What is 12 * 7?')
    await world.asVisitor(chat)('POST', '/request-human', { reason: 'A discount' })

    const [first, second] = [await inbox(ada), await inbox(bob)]
    await first.click('.buttons .primary')
    await first.waitForSelector('#reply', { visible: true })
    await first.type('#note', 'Has **bought** before.')
    await first.click('form.note button')
    await shows(first, '.notes', 'Has **bought** before.')
    await first.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('#note')!.value === '')
    // Nothing is sent: anyone who answers reads the draft first.
    const attachments = [{ type: 'image_base64', data: PIXEL, mime_type: 'image/png' }]
    await world.say(chat, 'And 7 * 8?', { attachments })
    await shows(first, '.log', 'And 7 * 8?')
    const link = await first.$eval('.message.user a', (found) => (found as HTMLAnchorElement).href)
    const opened = await world.app.api.handle(new Request(link))
    expect(opened.status).toBe(200)
    expect(opened.headers.get('content-type')).toBe('image/png')
    await first.click('button.draft')
    await first.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('#reply')!.value.includes('56'))
    expect((await world.transcript(ada, chat)('GET')).body.messages).toHaveLength(3)
    expect(await axeProblems(first)).toEqual([])
    await picture(first, 'inbox-notes')

    await first.select('#handover', bob.userId)
    await press(first, 'Hand over')
    await first.waitForSelector('#reply', { hidden: true })
    await second.waitForSelector('#reply', { visible: true })
    await shows(second, '.notes', 'Has **bought** before.')
    await second.type('#reply', 'Bob here, it is 56.')
    await second.keyboard.press('Enter')
    await shows(second, '.log', 'Bob here, it is 56.')
    const { text } = await world.asVisitor(chat)('GET', '')
    expect(text).toContain('Bob here')
    expect(text).not.toContain('bought')

    // What visitors say of themselves and write, and what colleagues write, is text to everyone who answers
    // (docs/attacks.md M19).
    const evil = '<img src=x onerror="document.title=1"><script>1</script> [x](javascript:alert(1))'
    await world.asVisitor(chat)('POST', '/identify', { name: evil, context: { cart: evil } })
    await world.say(chat, evil)
    await second.type('#reply', `${evil} end`)
    await second.keyboard.press('Enter')
    await second.waitForFunction(() => document.querySelectorAll('.message').length === 6)
    await shows(second, '.about', '<img src=x')
    await second.waitForSelector('.message.operator:last-child .text p')
    const living = '.inbox img, .inbox script, .inbox a[href^="javascript"]'
    expect(await second.$$eval(living, (found) => found.length)).toBe(0)

    // Where the page is closed, the colleague reads so.
    const { clock } = world
    await store.write((tx) => sessionRepository.change(tx, chat.sessionId as WidgetSessionId, { left_at: clock.now() }))
    world.app.container.live.publish(CHAT, chat.sessionId, { what: 'left', widget: id })
    await shows(second, '.desk .banner', 'The visitor left at')

    /** The inbox of somebody who has signed in, with the one chat open. */
    async function inbox({ userId }: Person): Promise<Page> {
      const { token } = await store.write((tx) => sessions.open(tx, userId))
      const page = await newPage({ width: 1180, height: 800 })
      await page.setCookie({ name: 'svc_session', value: token, url: origin })
      await page.goto(`${origin}/console`)
      await page.goto(`${page.url()}/inbox`)
      await page.waitForSelector('.queue button')
      await page.click('.queue button')
      await shows(page, '.log', 'What is 12')
      return page
    }
  })
})
