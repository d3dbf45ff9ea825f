import { expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { axeProblems, frameOf, inChromium, newPage, shows, textOf } from './support/chromium'
import { createShop, picture, say } from './support/shop'

inChromium('a shop, its visitors and its people', () => {
  test('from the sign-up to a chat that a person takes over and gives back', async () => {
    const shop = await createShop()
    const owner = await newPage({ width: 1180, height: 800 })
    await owner.goto(`${shop.origin}/sign-in`)
    await picture(owner, 'sign-in')
    expect(await axeProblems(owner)).toEqual([])
    await shop.signUp(owner)
    const id = await shop.makeWidget(owner)

    // The preview is a chat that works.
    await owner.goto(`${shop.origin}/console/me/widgets/${id}`)
    await shows(await frameOf(owner), '.log', 'Hello! I can help')
    await picture(owner, 'preview')
    expect(await axeProblems(owner)).toEqual([])

    const visitor = await shop.visit()
    const frame = await frameOf(visitor)
    await picture(visitor, 'launcher')
    await frame.click('#launcher')
    await frame.click('.suggestions button')
    await shows(frame, '.log:not(.growing)', '84')
    await say(visitor, frame, 'Convert 5 kilometres to miles')
    expect(await axeProblems(frame)).toEqual([])
    await picture(visitor, 'chat')

    await owner.goto(`${shop.origin}/console/me/inbox`)
    await owner.waitForSelector('.queue button')
    await frame.click('[aria-controls="menu"]')
    await frame.click('.menu button')
    await shows(frame, '.banner', 'We asked a person to join.')
    await shows(owner, '.summary', '1 visitor is waiting')
    await owner.waitForFunction(() => document.title.startsWith('1 waiting · Inbox'))
    await owner.click('.queue button')
    await shows(owner, '.log', 'Convert 5 kilometres')
    await owner.click('.buttons .primary')
    await owner.waitForSelector('#reply', { visible: true })
    await shows(frame, '.banner', 'is here. You are talking with a person')
    await owner.type('#reply', 'Good morning! I have **two** of them here.')
    await shows(frame, '.typing', 'is writing')
    const sentAt = performance.now()
    await owner.keyboard.press('Enter')
    await shows(frame, '.message.operator', 'I have two of them here')
    expect(performance.now() - sentAt).toBeLessThan(5_000)
    await frame.type('#field', 'Great, I take both.')
    // Told over and over while it lasts, so that a slow look misses nothing.
    const typed = async () => {
      await frame.type('#field', ' ')
      return await textOf(owner, '.typing')
    }
    await eventually(typed, (text) => text === 'The visitor is writing')
    await visitor.keyboard.press('Enter')
    await shows(owner, '.log', 'I take both')
    // While a person has the chat, the AI is silent.
    expect(await frame.$$eval('.message.assistant', (rows) => rows.length)).toBe(3)
    expect(await axeProblems(owner)).toEqual([])
    await picture(owner, 'inbox')
    await picture(visitor, 'chat-person')

    // The draft is still there after a reload.
    await owner.type('#reply', 'One moment')
    await owner.reload()
    await owner.waitForSelector('.queue button')
    await owner.click('.queue button')
    await owner.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('#reply')?.value === 'One moment')

    await owner.click('.buttons .primary')
    await shows(frame, '.log', 'You are back with the assistant')
    await say(visitor, frame, 'What is 3 + 4?')
    expect(await textOf(frame, '.log .message:last-of-type')).toContain('7')
  })

  test('an answer that comes over the events before its own stream stands there once', async () => {
    const shop = await createShop()
    const owner = await newPage()
    await shop.signUp(owner)
    await shop.makeWidget(owner)
    const visitor = await shop.visit()
    const frame = await frameOf(visitor)
    await frame.click('#launcher')
    await say(visitor, frame, 'What is 12 * 7?')
    // From here on the page hears of the answer by its events before it reads the answer itself.
    await frame.evaluate(() => {
      const { fetch } = window
      const heard = () => document.querySelector('.log')!.textContent.includes('56')
      window.fetch = Object.assign(async (...call: Parameters<typeof fetch>) => {
        const response = await fetch(...call)
        if (String(call[0]).endsWith('/messages')) while (!heard()) await new Promise(requestAnimationFrame)
        return response
      }, fetch)
    })
    await frame.type('#field', 'What is 7 * 8?')
    await visitor.keyboard.press('Enter')
    await shows(frame, '.log:not(.growing)', '56')
    await frame.waitForFunction(() => document.querySelectorAll('.message.user .note:empty').length === 2)
    await frame.waitForFunction(() => document.querySelector('.growing')!.childElementCount === 0)
    expect(await frame.$$eval('.message.assistant', (rows) => rows.map((row) => row.textContent))).toHaveLength(3)
  })

  test('two people who both want a chat: one has it, and the other reads who', async () => {
    const shop = await createShop()
    const first = await newPage()
    await shop.signUp(first)
    const id = await shop.makeWidget(first)
    const visitor = await shop.visit()
    const frame = await frameOf(visitor)
    await frame.click('#launcher')
    await say(visitor, frame, 'What is 12 * 7?')
    await first.goto(`${shop.origin}/console/me/inbox`)
    await first.waitForSelector('.queue button')
    await first.click('.queue button')
    await first.waitForSelector('.buttons .primary')
    // Another person takes it while this one's wish is on its way.
    await first.evaluate(() => {
      const { fetch } = window
      window.fetch = Object.assign(async (...call: Parameters<typeof fetch>) => {
        if (/takeover$/.test(String(call[0])))
          while (!document.body.dataset.arrives) await new Promise(requestAnimationFrame)
        return fetch(...call)
      }, fetch)
    })
    await first.click('.buttons button')
    await shop.takeAs('Priya', id)
    await first.evaluate(() => {
      document.body.dataset.arrives = 'true'
    })
    await shows(first, '.failed', 'Priya')
    await shows(first, '.buttons', 'Take from Priya')
    expect(await first.$('.reply')).toBeNull()
    expect(await axeProblems(first)).toEqual([])
    await first.click('.buttons button')
    await first.waitForSelector('#reply', { visible: true })
    await shows(frame, '.banner', 'Sam is here')
  })

  test('at 320 pixels by touch, in the dark, in forced colours, and by keyboard alone', async () => {
    const shop = await createShop()
    const owner = await newPage({ width: 320, height: 640, touch: true })
    await shop.signUp(owner)
    await shop.makeWidget(owner)
    const phone = await shop.visit({ width: 320, height: 568, touch: true })
    const small = await frameOf(phone)
    await small.tap('#launcher')
    await small.waitForSelector('#panel[role="dialog"]')
    expect(await (await phone.$('iframe'))!.boundingBox()).toMatchObject({ x: 0, y: 0, width: 320, height: 568 })
    await say(phone, small, 'What is 12 * 7?')
    expect(await small.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
    expect(await axeProblems(small)).toEqual([])
    await picture(phone, 'chat-320')
    expect(await phone.evaluate(() => document.documentElement.style.overflow)).toBe('hidden')
    await small.tap('[aria-label="Close chat"]')
    await phone.waitForFunction(() => document.documentElement.style.overflow === '')

    await owner.goto(`${shop.origin}/console/me/inbox`)
    await owner.waitForSelector('.queue button')
    await picture(owner, 'inbox-320-queue')
    expect(await axeProblems(owner)).toEqual([])
    await owner.tap('.queue button')
    await shows(owner, '.log', 'What is 12')
    await picture(owner, 'inbox-320')
    expect(await owner.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
    expect(await axeProblems(owner)).toEqual([])

    const dark = await shop.visit({ dark: true })
    const night = await frameOf(dark)
    await night.click('#launcher')
    await say(dark, night, 'What is 12 * 7?')
    expect(await axeProblems(night)).toEqual([])
    await picture(dark, 'chat-dark')

    const forced = await shop.visit({ forced: true })
    const plain = await frameOf(forced)
    await plain.click('#launcher')
    await say(forced, plain, 'What is 12 * 7?')
    expect(await axeProblems(plain)).toEqual([])
    await picture(forced, 'chat-forced')

    // By keyboard alone: from a button of the host in, and back to it.
    const keys = await shop.visit()
    const frame = await frameOf(keys)
    await keys.focus('#ask')
    await keys.keyboard.press('Enter')
    await frame.waitForFunction(() => document.activeElement?.id === 'field')
    await keys.keyboard.type('What is 12 * 7?')
    await keys.keyboard.press('Enter')
    await shows(frame, '.log:not(.growing)', '84')
    await keys.keyboard.press('Escape')
    await keys.waitForFunction(() => document.activeElement?.id === 'ask')
  })
})
