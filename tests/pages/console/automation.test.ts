import { afterAll, expect, test } from 'bun:test'
import { eventually } from '../../support/eventually'
import { widgetsIn } from '../../widgets/world'
import { inChromium } from '../support/chromium'
import { choose, createConsole, press, sees, write, wrongIn } from './support/console'

inChromium('automation in the console', async () => {
  const { open, person, world } = await createConsole()
  const working = world.app.container.jobs.start()
  afterAll(() => working.stop())
  const make = async (path: string, body: object) => (await person.send('POST', path, body)).body
  const { workflow } = await make('workflows', {
    name: 'Orders',
    triggerType: 'event',
    triggerConfig: { eventPattern: 'order.*' },
    steps: [{ type: 'tool', name: 'Missing', config: { name: 'no_such_tool', arguments: {} } }],
  })
  const cellsIn = async (path: string) => {
    const { page, problems } = await open(path)
    const texts = () => page.$$eval('.table-body [role="cell"]', (cells) => cells.map((cell) => cell.textContent))
    return { page, problems, texts }
  }

  test('a published event says what it matches, and later what it started', async () => {
    const { page, problems } = await open('/me/workflows/new?tab=events')
    await write(page, 'Event', 'order.created')
    await press(page, 'Publish event')
    await sees(page, 'It matches 0 hooks, 1 workflow and 0 endpoints.')
    await press(page, 'Done')
    const runs = async () => (await person.send('GET', `workflows/${workflow.id}/runs`)).body.runs
    await world.app.container.jobs.runDue('workflows.steady').catch(() => undefined)
    await eventually(runs, (all) => all[0]?.status === 'failed')
    await page.waitForSelector('.table-body a')
    await page.click('.table-body a')
    await sees(page, 'workflow Orders')
    expect(await wrongIn(page, 'event')).toEqual([])
    expect(problems).toEqual([])
  })

  test('of what an event could have started only a few are read, and the rest is said', async () => {
    for (let number = 0; number < 4; number++)
      await make('workflows', {
        name: `Parcels ${number}`,
        triggerType: 'event',
        triggerConfig: { eventPattern: 'parcel.*' },
        steps: [{ type: 'tool', name: 'Missing', config: { name: 'no_such_tool', arguments: {} } }],
      })
    const { page, problems } = await open('/me/workflows/new?tab=events')
    await write(page, 'Event', 'parcel.sent')
    await press(page, 'Publish event')
    await press(page, 'Done')
    await page.waitForSelector('.table-body a')
    await page.click('.table-body a')
    await sees(page, 'Not looked at: 1 more that could have been started.')
    expect(problems).toEqual([])
  })

  test('a step has a field for each of its settings, and keeps what has none', async () => {
    const { page, problems } = await open('/me/workflows/new')
    await press(page, 'Ask a person first')
    await sees(page, 'What the person is asked')
    await press(page, 'JSON')
    const field = await page.waitForSelector('.drawer .mono')
    const steps = JSON.parse(await field!.evaluate((it) => (it as HTMLTextAreaElement).value))
    expect(steps.map(({ type }: { type: string }) => type)).toEqual(['ai_transform', 'approval', 'output'])
    steps[1].config.approvers = [person.userId]
    await field!.evaluate((it) => (it as HTMLTextAreaElement).select())
    await page.keyboard.type(JSON.stringify(steps))
    await press(page, 'Forms')
    await sees(page, 'More settings, as JSON')
    const minutes = await page.waitForSelector('aria/Minutes to wait[role="spinbutton"]')
    await minutes!.type('5')
    await press(page, 'JSON')
    await eventually(
      () => page.$eval('.drawer .mono', (it) => JSON.parse((it as HTMLTextAreaElement).value)[1].config),
      (config) => config.timeout_minutes === 5 && config.approvers[0] === person.userId,
    )
    expect(problems).toEqual([])
  })

  test('a step that is moved takes its settings along', async () => {
    const { page, problems } = await open('/me/workflows/new')
    const settings = () => page.$$eval('.rows textarea', (all) => all.map((it) => it.value))
    await press(page, 'Add step')
    await press(page, 'Add step')
    await eventually(settings, (all) => all.length === 2)
    await (await page.$('.rows textarea'))!.focus()
    await page.keyboard.down('Control')
    await page.keyboard.press('a')
    await page.keyboard.up('Control')
    await page.keyboard.type('Say hello')
    await press(page, 'Move step 1 down')
    await eventually(settings, ([, moved]) => moved!.includes('Say hello'))
    expect((await settings())[0]).toContain('Summarize')
    expect(problems).toEqual([])
  })

  test('the list of workflows counts what failed in 7 days', async () => {
    const { page, problems, texts } = await cellsIn('/me/workflows')
    await eventually(texts, (all) => all.includes('✗ 1'))
    expect(await wrongIn(page, 'workflows-failed')).toEqual([])
    expect(problems).toEqual([])
  })

  test.each(['Answer a question', 'Draft, then improve', 'Decide by a word'])(
    'the canvas “%s” compiles',
    async (name) => {
      const { page, problems } = await open('/me/workflows/new?tab=canvases')
      await write(page, 'Name', name)
      await choose(page, 'Begin with', name)
      await press(page, 'Create canvas')
      const canvas = await eventually(async () =>
        (await person.send('GET', 'evi/canvases')).body.canvases.find((it: { name: string }) => it.name === name),
      )
      const compiled = await person.send('POST', `evi/canvases/${canvas.id}/compile`, {})
      expect({ status: compiled.status, errors: compiled.body.errors ?? [] }).toEqual({ status: 200, errors: [] })
      expect(problems).toEqual([])
    },
  )

  test('the list of widgets counts the sessions of 7 days', async () => {
    const shop = widgetsIn(world)
    const { id } = await shop.widget({}, person)
    await shop.begin(id)
    await shop.begin(id)
    const { page, problems, texts } = await cellsIn('/me/widgets')
    await eventually(texts, (all) => all.includes('2'))
    expect(await wrongIn(page, 'widgets')).toEqual([])
    expect(problems).toEqual([])
  })

  test("a skill of one's own is submitted for review, as its next version", async () => {
    const { skill } = await make('skills/create', {
      ...{
        name: 'Ship notes',
        slug: 'ship-notes',
        category: 'productivity',
        description: 'Writes notes of a release.',
      },
      system_prompt_ext: 'Write short notes of a release.',
    })
    const { page, problems } = await open(`/me/skills/${skill.id}?tab=mine`)
    for (const version of ['1.0.0', '1.0.1']) {
      await press(page, 'Submit for review…')
      await sees(page, 'It is checked at once.')
      await press(page, 'Submit for review')
      const read = async () => (await person.send('GET', `skills/${skill.id}`)).body
      const wanted = { version, reviewStatus: 'approved', systemPromptExt: 'Write short notes of a release.' }
      await eventually(read, (it) => it.version === version && it.reviewStatus === 'approved')
      expect(await read()).toMatchObject(wanted)
      await eventually(
        () => page.$$eval('.plain-list li', (all) => all.map((item) => item.textContent ?? '')),
        (all) => all.some((text) => text.includes(version)),
      )
    }
    await sees(page, 'In 30 days: 0 uses, $0.00 earned.')
    expect(await wrongIn(page, 'skill-submitted')).toEqual([])
    expect(problems).toEqual([])
  })
})
