import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Page } from 'puppeteer-core'
import { signInLinks } from '../../src/accounts/auth/table'
import { sha256Hex } from '../../src/kernel/crypto'
import { cliOver } from '../support/cli'
import { eventually } from '../support/eventually'
import { listen } from '../support/listening'
import { createWorld } from '../support/world'
import { axeProblems, inChromium, newPage, shows, textOf } from './support/chromium'

inChromium('sign-in links and passwords in a browser', async () => {
  const world = await createWorld()
  const { origin } = listen(world)
  world.app.listensAt(origin)
  const run = cliOver(world)
  const OVER = 'This link does not work'

  let people = 0
  async function account(...more: string[]) {
    const email = `reader${++people}@example.com`
    await run(['users', 'create', email, ...more, '--json'])
    return email
  }
  const linkTo = async (email: string) =>
    JSON.parse((await run(['users', 'link', email, '--json'])).stdout).url as string
  /** Opens a link, as from a message, until its page stands. */
  async function follow(page: Page, link: string, heading: string) {
    await page.goto(link)
    await shows(page, 'h1', heading)
  }
  const press = (page: Page, step: string) =>
    Promise.all([page.waitForNavigation(), page.click(`button[value="${step}"]`)])

  test('a link signs in with one press, and is used up by it and by nothing else', async () => {
    const email = await account()
    const link = await linkTo(email)
    const page = await newPage()
    // Looking does not use it up, and the token is neither in the address nor in the history.
    for (let looks = 0; looks < 2; looks++) await follow(page, link, `Sign in as ${email}`)
    expect(page.url()).toBe(`${origin}/sign-in/link`)
    expect(await axeProblems(page)).toEqual([])
    await press(page, 'sign-in')
    expect(page.url()).toBe(`${origin}/console/me`)
    expect(await page.content()).toContain(email)
    await follow(page, link, OVER)
    expect(await textOf(page, 'main')).toContain('svc-admin users link')
    expect(await axeProblems(page)).toEqual([])
    expect(world.logged.join('')).not.toContain(new URL(link).hash.slice(1))
  })

  test('a password is set from a link; one that is refused leaves the link good; all other sessions end', async () => {
    const email = await account()
    const elsewhere = await newPage()
    await follow(elsewhere, await linkTo(email), `Sign in as ${email}`)
    await press(elsewhere, 'sign-in')
    const page = await newPage()
    await follow(page, await linkTo(email), `Sign in as ${email}`)
    // What password managers go by.
    expect(await page.$eval('input[type=password]', (it) => it.getAttribute('autocomplete'))).toBe('new-password')
    expect(await page.$eval('input[autocomplete=username]', (it) => (it as HTMLInputElement).value)).toBe(email)
    await page.type('#new-password', email)
    await press(page, 'password')
    expect(await textOf(page, '[role=alert]')).toContain('Choose another')
    expect(await axeProblems(page)).toEqual([])
    await page.type('#new-password', 'battery staple')
    await press(page, 'password')
    expect(page.url()).toBe(`${origin}/console/me`)
    await elsewhere.reload()
    expect(elsewhere.url()).toBe(`${origin}/console/sign-in?to=/console/me`)
    await elsewhere.type('#email', email)
    await elsewhere.type('#password', 'battery staple')
    await Promise.all([elsewhere.waitForNavigation(), elsewhere.click('button[type=submit]')])
    expect(elsewhere.url()).toBe(`${origin}/console/me`)
  })

  test('a link whose time is over, a broken one and none say how to get another; a new one works in the same tab', async () => {
    const email = await account()
    const link = await linkTo(email)
    await world.app.store.write(async (tx) => {
      const t = tx.of(signInLinks)
      await tx
        .update(t)
        .set({ expires_at: 1 })
        .where(eq(t.token_hash, sha256Hex(new URL(link).hash.slice(1))))
    })
    const page = await newPage()
    await follow(page, link, OVER)
    await follow(page, `${origin}/sign-in/link#svc_sl_none`, OVER)
    // Only what stands after the # changes, so the browser loads nothing by itself.
    await follow(page, await linkTo(email), `Sign in as ${email}`)
    await page.goto('about:blank')
    await follow(page, `${origin}/sign-in/link`, 'One moment')
    expect(await axeProblems(page)).toEqual([])
  })

  test('the password is changed in the settings of the console, with the current one', async () => {
    const email = await account()
    await run(['users', 'password', email, '--yes'])
    const made = JSON.parse((await run(['users', 'password', email, '--yes', '--json'])).stdout).password
    const page = await newPage()
    await page.goto(`${origin}/sign-in`)
    await page.type('#email', email)
    await page.type('#password', made)
    await Promise.all([page.waitForNavigation(), page.click('button[type=submit]')])
    await page.goto(`${origin}/home/password`)
    const form = 'section:has(input[type=password])'
    const submit = async (current: string, wanted: string, says: string) => {
      await page.waitForSelector(form)
      const fields = await page.$$(`${form} input[type=password]`)
      for (const [at, word] of [current, wanted].entries()) {
        await fields[at]!.evaluate((field) => (field as HTMLInputElement).select())
        await fields[at]!.type(word)
      }
      // The line of an error moves the button, so it is pressed by key.
      await page.keyboard.press('Enter')
      await eventually(
        () => textOf(page, form),
        (text) => text.includes(says),
      )
      expect(await page.$('[role=alertdialog]')).toBeNull()
    }
    await submit('not it at all', 'battery staple', 'current password is wrong')
    await submit(made, 'battery staple', 'Saved')
    expect(await axeProblems(page)).toEqual([])
  })

  test('an invitation is accepted by a new account, by one that signs in, and by who is signed in, once', async () => {
    const owner = await world.person({ ofOrg: true })
    const invite = async (email: string) => {
      const { body } = await owner.send('POST', `orgs/${owner.orgId}/invitations`, { email, role: 'member' })
      return `${origin}/console/invitation#${body.token}`
    }
    const { slug } = (await owner.send('GET', `orgs/${owner.orgId}`)).body
    const newcomer = await newPage()
    const link = await invite('newcomer@example.com')
    await follow(newcomer, link, 'Join')
    expect(newcomer.url()).toBe(`${origin}/console/invitation`)
    expect(await axeProblems(newcomer)).toEqual([])
    await newcomer.type('#name', 'New Comer')
    await newcomer.type('#password', 'newcomer')
    await press(newcomer, 'sign-up')
    expect(await textOf(newcomer, '[role=alert]')).toContain('Choose another')
    await newcomer.type('#password', 'battery staple')
    await press(newcomer, 'sign-up')
    expect(newcomer.url()).toBe(`${origin}/console/${slug}`)
    await follow(newcomer, link, 'This invitation does not work')
    expect(await axeProblems(newcomer)).toEqual([])

    const second = await world.person({ ofOrg: true })
    const again = await second.send('POST', `orgs/${second.orgId}/invitations`, {
      email: 'newcomer@example.com',
      role: 'viewer',
    })
    // Who is signed in as somebody else joins as whom it is for.
    const other = await newPage()
    await follow(other, `${origin}/console/invitation#${again.body.token}`, 'Join')
    await other.type('#password', 'battery staple')
    await press(other, 'sign-in')
    expect(other.url()).toStartWith(`${origin}/console/org-`)

    const third = await invite('third@example.com')
    await run(['users', 'create', 'third@example.com', '--json'])
    const page = await newPage()
    await follow(page, await linkTo('third@example.com'), 'Sign in as')
    await press(page, 'sign-in')
    await follow(page, third, 'Join')
    await press(page, 'join')
    expect(page.url()).toBe(`${origin}/console/${slug}`)
    expect(world.logged.join('')).not.toContain(new URL(third).hash.slice(1))
  })
})
