import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Page } from 'puppeteer-core'
import { users } from '../../../src/accounts/orgs/table'
import type { OPERATOR_ROLES } from '../../../src/kernel/caller'
import { operatorSender } from '../../operators/support'
import { eventually } from '../../support/eventually'
import { inChromium } from '../support/chromium'
import { createConsole, go } from './support/console'

/** What each role sees: `r` it reads, `w` the first action of the screen is open to it, `–` it is not shown. */
const TABLE = `
viewer member admin owner | viewer support reviewer billing admin
overview     r r r r | r r r r r
requests     r r r r | r r r r r
jobs         r r r r | r r r – r
engines      r r r r | r r r r w
routing      r r w w | r r r r r
guardrails   r r w w | r r r r r
skills       r w w w | r r r r r
keys         r r w w | r r r r r
team         r r w w | – – – – –
settings     r r r r | – – – – –
inbox        – r r r | r r r – r
browser      – r w w | r r r – r
playground   – r r r | – – – – –
workflows    – r w w | r r r – r
widgets      – r w w | r r r – r
files        – r r r | r r r – r
webhooks     – – w w | r r r r r
billing      – – r r | – – – – –
audit        – – r r | r r r r r
platform     – – – – | r r r r w
`

const [ROLES, ...ROWS] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/[ |]+/))

inChromium('who sees what in the console', async () => {
  const { open, world } = await createConsole()
  const owner = await world.person({ ofOrg: true })
  const ops = operatorSender(world)
  const { slug } = (await owner.send('GET', `orgs/${owner.orgId}`)).body

  /** Somebody with this role: in the organization, or as an operator of the server. */
  async function somebody(isOperator: boolean, role: string) {
    if (role === 'owner') return owner
    const person = await world.person()
    if (!isOperator) await ops('POST', `orgs/${owner.orgId}/members`, { user: person.userId, role })
    else
      await world.app.store.write((tx) =>
        tx
          .update(tx.of(users))
          .set({ operator_role: role as (typeof OPERATOR_ROLES)[number] })
          .where(eq(tx.of(users).id, person.userId)),
      )
    return person
  }

  async function seenBy(page: Page, base: string): Promise<[screen: string, mark: string][]> {
    await page.waitForSelector('.side li a')
    const ids = await page.$$eval('.side li a', (all) =>
      all.map((link) => link.getAttribute('href')!.split('/')[3] ?? ''),
    )
    const found: [string, string][] = []
    for (const id of ids) {
      await go(page, `/console/${base}/${id}`)
      const state = await eventually(
        () =>
          page.evaluate(() => {
            // Beside the title, or in a list that is empty.
            const where = '.page-head .button.primary, main .empty .button.primary'
            const action = document.querySelector<HTMLButtonElement>(where)
            return {
              isReady: document.querySelector('main h1') !== null && document.querySelector('main .loading') === null,
              isOpen: action !== null && !action.disabled,
              failed: document.querySelector('main .failed')?.textContent ?? null,
            }
          }),
        ({ isReady }) => isReady,
      )
      found.push([id || 'overview', state.failed ?? (state.isOpen ? 'w' : 'r')])
    }
    return found
  }

  test.each(ROLES!.map((role, at) => [at < 4 ? 'of the organization' : 'operator', role, at] as const))(
    '%s, %s',
    async (kind, role, at) => {
      const isOperator = kind === 'operator'
      const base = isOperator ? 'all' : slug
      const { page, problems } = await open(`/${base}`, {}, await somebody(isOperator, role))
      const marks = ROWS.map(([id, ...row]): [string, string] => [id!, row[at]!])
      const shown = marks.filter(([, mark]) => mark !== '–')
      expect((await seenBy(page, base)).sort()).toEqual(shown.sort())
      expect(problems).toEqual([])
      await page.close()
    },
  )
})
