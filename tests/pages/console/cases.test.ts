import { expect, test } from 'bun:test'
import { inChromium } from '../support/chromium'
import { createConsole, go, press, sees, write, wrongIn } from './support/console'

inChromium('test cases and saved views of the console', async () => {
  const { calls, open, person, world } = await createConsole()
  const wide = { width: 1280, height: 800 }
  const ran = () => world.app.container.jobs.runDue('completions.tests')

  test('what was asked in the playground becomes a case, runs on engines, and a run is compared with the one before', async () => {
    const { page, problems } = await open('/me/playground')
    await write(page, 'Prompt', 'What is 2 + 2?')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.took b')
    await press(page, 'Save or share')
    await (await page.waitForSelector('[role=menuitem]', { visible: true }))!.click()
    await write(page, 'Name', 'Sums')
    expect(page.url()).not.toContain('What')
    await press(page, 'Add check')
    await write(page, 'Text', '4')
    expect(await wrongIn(page, 'playground-tests-new')).toEqual([])
    await page.setViewport(wide)
    await press(page, 'Make test case')
    await sees(page, 'never run')
    const [{ id, request, checks }] = (await person.send('GET', 'test-cases')).body.test_cases
    expect(request).toMatchObject({ prompt: 'What is 2 + 2?', mode: 'auto' })
    expect(checks).toEqual([{ type: 'contains', value: '4' }])

    await press(page, 'Run cases…')
    await sees(page, 'Choose one to four engines.')
    await press(page, 'svc-1-flash', 'checkbox')
    await press(page, 'svc-1-reason', 'checkbox')
    await press(page, 'Run')
    await sees(page, 'Since the run before')
    await ran()
    await sees(page, '2 of 2 passed')
    await person.send('PATCH', `test-cases/${id}`, { checks: [{ type: 'contains', value: 'banana' }] })
    await person.send('POST', 'test-cases/run', { models: ['svc-1-flash', 'svc-1-reason'], most_cents: 10 })
    await ran()
    const [{ id: job }] = (await person.send('GET', 'jobs?type=tests')).body.jobs
    await page.goto(`${new URL(page.url()).origin}/console/me/playground/${job}?tab=runs`)
    await sees(page, '2 worse, 0 better')
    await sees(page, 'contains banana')
    expect(await wrongIn(page, 'playground-row-runs')).toEqual([])
    await page.setViewport(wide)

    await go(page, `/console/me/playground/${id}?tab=tests`)
    await sees(page, 'Change it')
    expect(await wrongIn(page, 'playground-row-tests')).toEqual([])
    await page.setViewport(wide)
    await press(page, 'Open in playground')
    await page.waitForFunction(
      () => document.querySelector<HTMLTextAreaElement>('.composer textarea')?.value === 'What is 2 + 2?',
    )
    await go(page, `/console/me/playground/${id}?tab=tests`)
    await press(page, 'Delete…')
    await press(page, 'Delete')
    await sees(page, 'Keep a prompt and what must be true')
    expect(problems).toEqual([])
  })

  test('filters of the log are saved under a name, opened by it, and deleted', async () => {
    await calls(2)
    const { page, problems } = await open('/me/requests?status=2xx&mode=fast')
    await press(page, 'Save as view…')
    await write(page, 'Name', 'Fast ones')
    await press(page, 'Save view')
    await sees(page, 'Delete this view…')
    expect(await wrongIn(page, 'requests-view')).toEqual([])
    await page.setViewport(wide)
    await go(page, '/console/me/requests')
    await press(page, 'Fast ones', 'link')
    await page.waitForFunction(() => location.search === '?mode=fast&status=2xx')
    await press(page, 'Delete this view…')
    await press(page, 'Delete view')
    await sees(page, 'Save as view…')
    expect((await person.send('GET', 'views')).body.views).toEqual([])
    expect(problems).toEqual([])
  })
})
