import { expect, test } from 'bun:test'
import { axeProblems, frameOf, inChromium, newPage, shows, textOf } from './support/chromium'
import { refusal, scripted, streamed } from './support/scripted'

inChromium('the chat on the page of another origin', () => {
  test('opens, answers in pieces as Markdown, closes, and gives the focus back', async () => {
    const site = await scripted({
      message: () => streamed('We have **two** lamps: ', '[oak](https://shop.example.com/oak).'),
    })
    const page = await newPage()
    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).origin))
    await page.goto(site.hostUrl())
    const frame = await frameOf(page)
    expect((await (await page.$('iframe'))!.boundingBox())!.width).toBeLessThan(100)

    await frame.click('#launcher')
    await frame.waitForSelector('#panel', { visible: true })
    await shows(frame, '.log', 'Hello. What are you looking for?')
    expect(await frame.evaluate(() => document.activeElement?.id)).toBe('field')
    await frame.type('#field', 'Which lamps?')
    await page.keyboard.press('Enter')
    await shows(frame, '.log:not(.growing)', 'We have two lamps: oak.')
    await frame.waitForSelector('.message.assistant:last-of-type strong')
    expect(await frame.$eval('.message.assistant:last-of-type strong', ({ textContent }) => textContent)).toBe('two')
    expect(
      await frame.$eval('.message.assistant a', (link) => [link.getAttribute('href'), link.getAttribute('rel')]),
    ).toEqual(['https://shop.example.com/oak', 'noopener noreferrer nofollow'])
    expect(site.messages()).toEqual(['Which lamps?'])
    expect(await axeProblems(frame)).toEqual([])

    await page.keyboard.press('Escape')
    await frame.waitForSelector('#panel', { hidden: true })
    expect(await frame.evaluate(() => document.activeElement?.id)).toBe('launcher')
    // Nothing but the host's page and ours was asked for anything.
    expect(new Set(requests)).toEqual(new Set([new URL(site.hostUrl()).origin, site.origin]))
    expect(await page.evaluate(() => Object.keys(window).filter((name) => /svc/i.test(name)))).toEqual(['svcWidget'])
    // A second tag of the same chat does nothing, and says so.
    const notice = new Promise<string>((resolve) => page.once('console', (line) => resolve(line.text())))
    await page.evaluate(() => {
      const tag = document.querySelector<HTMLScriptElement>('script[data-config-id]')!
      const again = document.createElement('script')
      again.src = tag.src
      again.dataset.configId = tag.dataset.configId!
      document.body.append(again)
    })
    expect(await notice).toContain('this chat is already on the page')
    expect(await page.$$eval('iframe', (frames) => frames.length)).toBe(1)
  })

  test('whose frame does not answer says in the console what to change', async () => {
    const site = await scripted({ chatScript: new Promise(() => undefined) })
    const page = await newPage()
    const notice = new Promise<string>((resolve) => page.once('console', (line) => resolve(line.text())))
    await page.evaluateOnNewDocument(() => {
      const wait = globalThis.setTimeout
      Object.assign(globalThis, { setTimeout: (then: () => void, ms = 0) => wait(then, ms / 50) })
    })
    // The page is never loaded whole.
    await page.goto(site.hostUrl(), { waitUntil: 'domcontentloaded' })
    const { origin } = new URL(site.hostUrl())
    expect(await notice).toEndWith(
      `${origin}, is not allowed for widget 7f5f6f4e: svc-admin widgets update 7f5f6f4e --origin ${origin}`,
    )
  })

  test('keeps its corner on a page whose body is moved and whose styles say otherwise', async () => {
    const site = await scripted()
    const page = await newPage()
    const styles = 'body{transform:translateZ(0);height:9000px}*{all:unset!important}iframe{position:static!important}'
    await page.goto(site.hostUrl(`></script><style>${styles}</style><script type="text/plain"`))
    const frame = await frameOf(page)
    await frame.waitForSelector('#launcher', { visible: true })
    const { y } = (await (await page.$('iframe'))!.boundingBox())!
    expect(y).toBeLessThan(await page.evaluate(() => innerHeight))
  })

  test('comes back where a site swapped its body, as single-page sites do', async () => {
    const site = await scripted()
    const page = await newPage()
    await page.goto(site.hostUrl('data-container="main"'))
    await frameOf(page)
    // The tags of the new body run again.
    await page.evaluate(() => {
      const tag = document.querySelector<HTMLScriptElement>('script[data-config-id]')!
      const next = document.createElement('script')
      next.src = tag.src
      Object.assign(next.dataset, tag.dataset)
      document.body = document.createElement('body')
      document.body.append(document.createElement('main'), next, next.cloneNode())
    })
    await (await frameOf(page)).waitForSelector('#panel', { visible: true })
    expect(await page.$$eval('main > iframe', (frames) => frames.length)).toBe(1)
  })

  test('what anybody wrote stays text: no script, picture or style of it lives (M19)', async () => {
    const evil =
      '<img src=x onerror="parent.postMessage(1,\'*\')"><script>1</script> [x](javascript:alert(1)) ![p](https://evil.example.com/p.png) <style>*{display:none}</style><a href="data:text/html,x">d</a>'
    const site = await scripted({ message: () => streamed(evil) })
    const page = await newPage()
    await page.goto(site.hostUrl())
    const frame = await frameOf(page)
    await frame.click('#launcher')
    await frame.type('#field', evil)
    await page.keyboard.press('Enter')
    await shows(frame, '.log', 'Assistant (AI)')
    await frame.waitForFunction(() => document.querySelectorAll('.log:not(.growing) .message').length === 3)
    // Text is shown as it was written until what reads Markdown is there.
    await frame.waitForSelector('.log:not(.growing) .message.assistant:last-child .text p')
    // So does what a person writes.
    site.tell('message', { id: 'msg_9', role: 'operator', content: evil, artifacts: [], created_at: '' })
    await frame.waitForSelector('.message.operator .text p')
    expect(await frame.$$eval('.log img, .log script, .log style, .log a[href]', (found) => found.length)).toBe(0)
    expect(await textOf(frame, '.message.user .text')).toBe(evil)
  })

  test('a person asked for comes, writes and leaves; unread messages are counted on the launcher', async () => {
    const site = await scripted()
    const page = await newPage()
    await page.goto(site.hostUrl())
    const frame = await frameOf(page)
    await frame.click('#launcher')
    await frame.click('.suggestions button')
    await shows(frame, '.log', 'Good day.')
    await frame.click('[aria-controls="menu"]')
    await frame.click('.menu button')
    await shows(frame, '.banner', 'We asked a person to join.')
    await frame.waitForFunction(() => true)
    while (site.listening() === 0) await Bun.sleep(10)
    site.tell('takeover', { takeover_status: 'requested', operator: null, usual_wait_s: 130 })
    await shows(frame, '.banner', 'usual wait is 2 min.')
    site.tell('takeover', { takeover_status: 'human', operator: { id: 'o', name: 'Sam' } })
    await shows(frame, '.banner', 'Sam is here')
    site.tell('typing', { role: 'operator' })
    await shows(frame, '.typing', 'Sam is writing')
    await frame.click('[aria-label="Close chat"]')
    site.tell('message', { id: 'msg_1', role: 'operator', content: 'I look for it.', artifacts: [], created_at: '' })
    site.tell('message', { id: 'msg_1', role: 'operator', content: 'I look for it.', artifacts: [], created_at: '' })
    await frame.waitForSelector('[aria-label="Open chat, 1 new message"]')
    await frame.click('#launcher')
    expect(await textOf(frame, '.message.operator')).toContain('Sam (person):')
    expect(await axeProblems(frame)).toEqual([])
    site.tell('takeover', { takeover_status: 'ai', operator: null })
    await shows(frame, '.log', 'Sam left. You are back with the assistant.')
    site.tell('closed', {})
    await shows(frame, '.banner', 'This chat is closed.')
    expect(await axeProblems(frame)).toEqual([])
  })

  test('offline and back: what was written meanwhile is sent, once', async () => {
    const site = await scripted()
    const page = await newPage()
    await page.goto(site.hostUrl())
    const frame = await frameOf(page)
    await frame.click('#launcher')
    await page.setOfflineMode(true)
    await shows(frame, '.banner', 'You are offline')
    await frame.type('#field', 'Are you there?')
    await page.keyboard.press('Enter')
    await shows(frame, '.message.user', 'sent when you are online')
    expect(site.messages()).toEqual([])
    await page.setOfflineMode(false)
    await shows(frame, '.log', 'Good day.')
    expect(site.messages()).toEqual(['Are you there?'])
  })

  test('a banner or a long draft covers none of what was said last', async () => {
    const site = await scripted({ message: () => streamed('A long answer.\n\n'.repeat(30)) })
    const page = await newPage()
    await page.goto(site.hostUrl())
    const frame = await frameOf(page)
    await frame.click('#launcher')
    await frame.type('#field', 'Tell me all.')
    await page.keyboard.press('Enter')
    await shows(frame, '.log:not(.growing)', 'A long answer.')
    const atEnd = () =>
      frame.waitForFunction(() => {
        const { scrollTop, scrollHeight, clientHeight } = document.querySelector('.transcript')!
        return scrollTop > 0 && scrollHeight - scrollTop - clientHeight < 2
      })
    await atEnd()
    await page.setOfflineMode(true)
    await shows(frame, '.banner', 'You are offline')
    await atEnd()
    await frame.type('#field', 'and so on '.repeat(20))
    await atEnd()
    // Who reads further up stays there.
    await frame.$eval('.transcript', (transcript) => transcript.scrollTo(0, 0))
    await page.setOfflineMode(false)
    await frame.waitForSelector('.banner', { hidden: true })
    expect(await frame.$eval('.transcript', ({ scrollTop }) => scrollTop)).toBe(0)
  })

  test('refusals in plain words: too fast, too long, ended, not available', async () => {
    const answers = [
      () => refusal(429, 'rate_limit_exceeded', 'slow', { 'retry-after': '20' }),
      () => refusal(401, 'invalid_token', 'gone'),
      () => refusal(402, 'insufficient_credits', 'The balance is empty.'),
      () => streamed('Yes.'),
    ]
    const site = await scripted({ message: () => answers.shift()!(), config: { behavior: { maxPromptLength: 20 } } })
    const page = await newPage()
    await page.goto(site.hostUrl())
    const frame = await frameOf(page)
    await frame.click('#launcher')
    await frame.type('#field', 'a text that has more than twenty characters')
    await shows(frame, '.problem', 'at most 20 characters')
    expect(await frame.$eval('#field', (field) => field.getAttribute('aria-invalid'))).toBe('true')
    await frame.$eval('#field', (field) => {
      ;(field as HTMLTextAreaElement).value = ''
    })
    await frame.type('#field', 'one')
    await page.keyboard.press('Enter')
    await shows(frame, '.banner', 'You are sending very fast. Wait')
    expect(await axeProblems(frame)).toEqual([])
    await frame.click('.note button')
    await shows(frame, '.log', 'ended after a long pause')
    await frame.click('.note button')
    await shows(frame, '.banner', 'Chat is not available now.')
    expect(await textOf(frame, 'body')).not.toContain('balance')
    await frame.click('.note button')
    await shows(frame, '.log', 'Yes.')
  })

  test('a bot check is shown before the chat begins, by keyboard too, and its token goes with the session', async () => {
    const checker = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(CHECKER, { headers: { 'content-type': 'text/javascript' } }),
    })
    const tokens: unknown[] = []
    const turnstileScript = `${checker.url.origin}/api.js`
    const site = await scripted({
      config: { security: { requireTurnstile: true, turnstileSiteKey: 'key-1', turnstileScript } },
      session: ({ body }) => {
        tokens.push(body?.turnstile_token)
        if (tokens.length === 1) return refusal(403, 'bot_check_failed', 'no')
        return Response.json({ session_id: 's', token: 't', expires_at: '2999-01-01T00:00:00Z', takeover_status: 'ai' })
      },
    })
    const page = await newPage()
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await page.goto(site.hostUrl())
    const frame = await frameOf(page)
    await frame.click('#launcher')
    expect(requests.some((url) => url.startsWith(checker.url.origin))).toBe(false)
    await frame.type('#field', 'Which lamps?')
    await page.keyboard.press('Enter')
    await frame.waitForSelector('.bot-check button', { visible: true })
    expect(await axeProblems(frame)).toEqual([])
    await frame.focus('.bot-check button')
    await page.keyboard.press('Enter')
    await shows(frame, '.banner', 'The check failed')
    await frame.waitForSelector('.bot-check', { hidden: true })
    await frame.click('.note button')
    await frame.waitForSelector('.bot-check button', { visible: true })
    await frame.click('.bot-check button')
    await shows(frame, '.log', 'Good day.')
    expect(tokens).toEqual(['passed key-1', 'passed key-1'])
    await checker.stop(true)
  })

  test('a visitor who is to go on elsewhere gets a link there', async () => {
    const url = 'https://help.example.com/contact'
    const message = (id: string, role: string, content: string) => ({
      id,
      role,
      content,
      artifacts: [],
      created_at: '',
    })
    const site = await scripted({
      message: ({ body }) =>
        Response.json({
          message: message('msg_1', 'user', String(body?.content)),
          reply: message('msg_2', 'system', 'Please continue here.'),
          takeover_status: 'ai',
          redirect_url: url,
        }),
    })
    const page = await newPage()
    await page.goto(site.hostUrl())
    const frame = await frameOf(page)
    await frame.click('#launcher')
    await frame.type('#field', 'A person, please')
    await page.keyboard.press('Enter')
    await shows(frame, '.log a', 'Continue at help.example.com')
    const link = await frame.$eval('.log a', (a) => [a.getAttribute('href'), a.getAttribute('rel')])
    expect(link).toEqual([url, 'noopener noreferrer'])
    expect(await axeProblems(frame)).toEqual([])
  })

  test('messages from another origin, another window or of another shape do nothing (M11)', async () => {
    const site = await scripted()
    const page = await newPage()
    await page.goto(site.hostUrl())
    const frame = await frameOf(page)
    const notice = await page.evaluateHandle(() => {
      const heard: unknown[] = []
      addEventListener('message', ({ data }) => heard.push(data))
      return heard
    })
    // Of the host itself, but of no shape that is known.
    await page.evaluate(() => {
      const { contentWindow } = document.querySelector('iframe')!
      const target = 'svc-widget'
      const wrong: unknown[] = [
        null,
        'open',
        { type: 'open' },
        { target, type: 7 },
        { target, type: '__proto__' },
        { target, type: 'constructor' },
        JSON.parse('{"target":"svc-widget","type":"nothing","__proto__":{"polluted":true}}'),
        { target, type: 'send', text: 'x'.repeat(10_000_000) },
        { target, type: 'send', text: { html: '<b>' } },
      ]
      for (const message of wrong) contentWindow?.postMessage(message, '*')
    })
    // Another window, with messages that would be right from the host, or from the chat.
    await page.evaluate(() => {
      const other = document.createElement('iframe')
      other.srcdoc = '<p>Another</p>'
      document.body.append(other)
    })
    const other = await page.waitForFrame((found) => found.url() === 'about:srcdoc')
    await other.evaluate(() => {
      parent.frames[0]!.postMessage({ target: 'svc-widget', type: 'send', text: 'From another window' }, '*')
      parent.postMessage({ source: 'svc-widget', type: 'resize', width: 900, height: 900 }, '*')
    })
    // What is right comes after all of them, in order.
    await page.evaluate(() =>
      (window as unknown as { svcWidget: { send(text: string): void } }).svcWidget.send('<b>Hi</b>'),
    )
    await shows(frame, '.log', 'Good day.')
    expect(site.messages()).toEqual(['<b>Hi</b>'])
    expect(await frame.evaluate(() => 'polluted' in {})).toBe(false)
    expect(await frame.$$eval('.message.user b', (found) => found.length)).toBe(0)
    expect((await (await page.$('iframe[title]'))!.boundingBox())!.width).toBeLessThan(900)
    expect(JSON.stringify(await notice.jsonValue())).not.toMatch(/svc_wt|token|Good day/)
  })

  test('a rating is saved', async () => {
    const site = await scripted()
    const page = await newPage()
    await page.goto(site.hostUrl())
    const frame = await frameOf(page)
    await frame.click('#launcher')
    await frame.click('[aria-controls="menu"]')
    await frame.click('.menu button:nth-child(2)')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    expect(await axeProblems(frame)).toEqual([])
    await frame.type('#comment', 'quick')
    await frame.click('.rating [type="submit"]')
    await shows(frame, '.log', 'Your rating is saved')
    expect(site.received.find(({ path }) => path.endsWith('/feedback'))?.body).toEqual({ rating: 3, comment: 'quick' })
  })
})

/** Speaks as Turnstile's script does. */
const CHECKER = `window.turnstile = { render(where, { sitekey, callback }) {
  const button = document.createElement('button')
  button.textContent = 'I am a person'
  button.onclick = () => callback('passed ' + sitekey)
  where.append(button)
} }`
