import { afterAll, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { freePort } from '../../support/free-port'
import { startOwnServer } from '../../support/mcp-servers'
import { PIXEL } from '../../support/pixel'
import { startUpstream } from '../../support/upstream'
import { inChromium } from '../support/chromium'
import { choose, createConsole, go, press, sees, write, wrongIn } from './support/console'

inChromium('the playground of the console', async () => {
  const { open } = await createConsole()

  test('a prompt is answered as it comes, with what it took, and the code beside it sends the same', async () => {
    const { page, problems } = await open('/me/playground')
    await sees(page, 'Answers appear here')
    expect(await wrongIn(page, 'playground-empty')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/completions')) sent.push(request.postData() ?? '')
    })
    await write(page, 'Prompt', "What's the time in Lisbon?")
    await page.keyboard.press('Enter')
    await page.waitForSelector('.took b')
    expect(sent).toHaveLength(1)
    const shown = await page.$eval('.code code', (it) => it.textContent ?? '')
    const inCode = /-d '(.*)'$/s.exec(shown)![1]!.replaceAll(`'\\''`, "'")
    expect(inCode).toBe(sent[0]!)
    expect(page.url()).not.toContain('Lisbon')
    expect(await wrongIn(page, 'playground')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Compare')
    await page.waitForSelector('[aria-label="Column 2"]')
    expect(page.url()).toContain('modes=auto%2Cfast')
    // The next prompt is written at once: the keys do not press Compare again.
    await page.keyboard.type('And in Tokyo?')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.querySelectorAll('.took b').length === 3)
    expect(await wrongIn(page, 'playground-two')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    // The first column has two exchanges and the second one: the second keeps its own.
    await press(page, 'Remove column 1')
    await page.waitForFunction(() => document.querySelectorAll('.took b').length === 1)
    expect(problems).toEqual([])
  })
})

/** The bodies that a page sends to be answered. */
function sentBy(page: Page): { path: string; body: string; key: string | undefined }[] {
  const sent: ReturnType<typeof sentBy> = []
  page.on('request', (request) => {
    const path = /\/(chat\/completions|completions|responses|messages)$/.exec(request.url())?.[1]
    if (path) sent.push({ path, body: request.postData() ?? '', key: request.headers()['x-svc-as-key'] })
  })
  return sent
}
const codeOf = (page: Page) =>
  page.$eval('[aria-label="curl code"] code', (it) =>
    /-d '(.*)'$/s.exec(it.textContent ?? '')![1]!.replaceAll(`'\\''`, "'"),
  )
const answered = (page: Page, many: number) =>
  page.waitForFunction((count: number) => document.querySelectorAll('.took b').length === count, {}, many)

inChromium('the playground with functions, formats, files and keys', async () => {
  const upstream = await startUpstream()
  afterAll(() => upstream.stop())
  const { open, person } = await createConsole({
    config: { engineBaseUrl: upstream.url, engineModel: 'scripted', egressAllow: '127.0.0.1/32' },
  })
  const counter = startOwnServer('seven lamps')
  counter.state.offered = [{ name: 'count', description: 'Counts what is there.', inputSchema: { type: 'object' } }]

  test.each(['Chat', 'Responses', 'Messages'])('a function of mine is called and answered: %s', async (api) => {
    const { page, problems } = await open('/me/playground?modes=fast')
    const sent = sentBy(page)
    await press(page, api)
    await press(page, 'Add function')
    await write(page, 'Prompt', `[[plan:get_weather{"city":"Oslo"}]] in ${api}`)
    await page.keyboard.press('Enter')
    await sees(page, 'is called with')
    expect(await codeOf(page)).toBe(sent[0]!.body)
    const result = await page.waitForSelector('aria/Result of get_weather(city)[role="textbox"]')
    await result!.type('-3 degrees, snow')
    if (api === 'Chat') {
      expect(await wrongIn(page, 'playground-function')).toEqual([])
      await page.setViewport({ width: 1280, height: 800 })
    }
    await press(page, 'Send the result')
    await sees(page, 'Hello from the scripted upstream.')
    await answered(page, 2)
    expect(await codeOf(page)).toBe(sent[1]!.body)
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages)).toContain('-3 degrees, snow')
    expect(problems).toEqual([])
    await page.close()
  })

  test('the tools of an MCP server run by themselves, and one that does not answer is named', async () => {
    const { page, problems } = await open('/me/playground?modes=fast')
    const sent = sentBy(page)
    await press(page, 'Add server')
    await write(page, 'Address', counter.url)
    await page.$eval('aria/Label[role="textbox"]', (field) => (field as HTMLInputElement).select())
    await page.keyboard.type('store')
    expect(await wrongIn(page, 'playground-servers')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await write(page, 'Prompt', '[[plan:store__count{"of":"lamps"}]] [[say:There are seven.]] MCP')
    await page.keyboard.press('Enter')
    await answered(page, 1)
    for (const text of ['store__count', 'There are seven.']) await sees(page, text)
    expect(counter.state.heard.calls).toMatchObject([{ name: 'count', arguments: { of: 'lamps' } }])
    expect(await codeOf(page)).toBe(sent[0]!.body)
    expect(JSON.parse(sent[0]!.body).tools).toMatchObject([{ server_label: 'store', server_url: counter.url }])
    expect(await wrongIn(page, 'playground-server-answer')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    expect(problems).toEqual([])
    const askAt = async (address: string) => {
      await page.$eval('aria/Address[role="textbox"]', (field) => (field as HTMLInputElement).select())
      await page.keyboard.type(address)
      await write(page, 'Prompt', 'Hello')
      await page.keyboard.press('Enter')
    }
    await askAt(`http://127.0.0.1:${await freePort()}/mcp`)
    await answered(page, 2)
    await sees(page, 'store')
    await askAt('http://127.0.0.1:1/mcp')
    await page.waitForSelector('.failed')
    expect(await page.$eval('.failed', (box) => box.textContent)).toContain('port 1 is not allowed')
    expect(await wrongIn(page, 'playground-server-away')).toEqual([])
    await page.close()
  })

  test('an answer with a schema is formatted, and says whether it is valid', async () => {
    const { page, problems } = await open('/me/playground?modes=fast&api=chat')
    await choose(page, 'Answer', 'schema')
    await write(page, 'Prompt', '[[say:{"answer":"yes"}]] one')
    await page.keyboard.press('Enter')
    await sees(page, 'valid')
    await write(page, 'Prompt', '[[say:no]] two')
    await page.keyboard.press('Enter')
    await sees(page, 'not as asked')
    await page.close()
    expect(problems).toEqual([])
  })

  test('pictures and documents go with a prompt, and a format that takes none says so', async () => {
    const { page, problems } = await open('/me/playground?modes=fast')
    const sent = sentBy(page)
    const [png, note] = [join(tmpdir(), 'lamp.png'), join(tmpdir(), 'note.txt')]
    await Promise.all([Bun.write(png, Buffer.from(PIXEL, 'base64')), Bun.write(note, 'The lamp is oak.')])
    const picker = (await page.waitForSelector('input[type="file"]'))!
    await picker.uploadFile(png as never)
    await sees(page, 'lamp.png')
    await picker.uploadFile(note as never)
    await sees(page, 'Completions take pictures only')
    await press(page, 'Chat')
    await write(page, 'Prompt', 'What is it made of?')
    expect(await wrongIn(page, 'playground-files')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.focus('aria/Prompt[role="textbox"]')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.took, .failed')
    const [, picture, file] = JSON.parse(sent[0]!.body).messages[0].content
    expect(picture.image_url.url).toStartWith('data:image/png;base64,')
    expect(file.file.filename).toBe('note.txt')
    await page.close()
    expect(problems.filter((line) => !line.includes('503'))).toEqual([])
  })

  test('a prompt is changed, and what came after it is replaced', async () => {
    const { page, problems } = await open('/me/playground?modes=fast')
    const sent = sentBy(page)
    for (const prompt of ['[[say:first]] a', '[[say:second]] b']) {
      await write(page, 'Prompt', prompt)
      await page.keyboard.press('Enter')
      await sees(page, prompt.slice(6, 11))
      await page.waitForSelector('aria/Send[role="button"]')
    }
    await answered(page, 2)
    await press(page, 'Change the prompt')
    await page.keyboard.type(' [[say:third]]')
    await press(page, 'Run again')
    await sees(page, 'third')
    await answered(page, 1)
    expect(JSON.parse(sent[2]!.body).conversation).toBeUndefined()
    expect(problems).toEqual([])
    await page.close()
  })

  test('a key acts where it is chosen, and the call is on its record', async () => {
    const { page, problems } = await open('/me/playground?modes=fast&api=responses')
    const sent = sentBy(page)
    await page.waitForSelector(`option[value="${person.keyId}"]`)
    await choose(page, 'Who pays', person.keyId)
    await sees(page, 'within the caps')
    await write(page, 'Prompt', 'By the key')
    await page.keyboard.press('Enter')
    await answered(page, 1)
    expect(sent[0]!.key).toBe(person.keyId)
    const [row] = (await person.send('GET', 'requests?limit=1')).body.requests
    expect(row).toMatchObject({ endpoint: '/responses', api_key_id: person.keyId })
    expect(problems).toEqual([])
    await page.close()
  })

  test.each(['Completions', 'Chat'])('a guardrail that fires is named below the answer: %s', async (api) => {
    const rules = [{ guardrail_id: 'pii', phase: 'input', verdict: 'redact', config: {} }]
    const policy = await person.send('POST', 'guardrail-policies', { name: api, is_default: true, rules })
    const { page, problems } = await open('/me/playground?modes=fast')
    await press(page, api)
    await write(page, 'Prompt', `Write to ada@example.com by ${api}`)
    await page.keyboard.press('Enter')
    await sees(page, 'pii in the input')
    if (api === 'Chat') expect(await wrongIn(page, 'playground-guardrail')).toEqual([])
    await person.send('DELETE', `guardrail-policies/${policy.body.id}`)
    expect(problems).toEqual([])
    await page.close()
  })

  test('columns have their own settings, and one of them can be asked alone', async () => {
    const { page, problems } = await open('/me/playground?modes=fast,think')
    const sent = sentBy(page)
    await press(page, 'Column 2')
    await write(page, 'System prompt', 'Be short.')
    await write(page, 'Prompt', 'to both')
    await page.keyboard.press('Enter')
    await answered(page, 2)
    const systems = sent.map(({ body }) => JSON.parse(body).persona?.system_prompt ?? null)
    expect(systems).toEqual([null, 'Be short.'])
    await page.keyboard.down('Alt')
    await page.keyboard.press('1')
    await page.keyboard.up('Alt')
    await page.keyboard.type('to one')
    await page.keyboard.press('Enter')
    await answered(page, 3)
    expect(sent).toHaveLength(3)
    expect(page.url()).not.toContain('short')
    expect(problems).toEqual([])
    await page.close()
  })

  test('a system prompt becomes a skill, and a word that is no tab finds the tab it means', async () => {
    const { page, problems } = await open('/me/playground')
    await write(page, 'System prompt', 'Answer as a pirate.')
    await press(page, 'Save or share')
    await press(page, 'Make a skill of the system prompt', 'menuitem')
    await page.waitForSelector('aria/Instructions[role="textbox"]')
    expect(await page.$eval('aria/Instructions', (it) => (it as HTMLTextAreaElement).value)).toBe('Answer as a pirate.')
    await go(page, '/console/me/playground?tab=cases')
    await sees(page, 'Keep a prompt and what must be true')
    expect(problems).toEqual([])
    await page.close()
  })
})
