import type { SharedRoutes } from '../api'
import { expectData } from '../failure'
import { eachEntry } from '../pages'
import { everyKey } from '../resolve'
import { type Check, ok, skip, warn } from './check'

/** Whether receivers of webhooks take what is sent, and whether the guard keeps private addresses out. */
export const webhooksCheck: Check = {
  name: 'webhooks out',
  asksServer: true,
  needs: ['database'],
  async run(context) {
    const api: SharedRoutes = (await context.connect()).ops()
    let [all, failing] = [0, 0]
    let worst: { id: string; failure_count: number } | null = null
    for await (const one of eachWebhook(api)) {
      if (!one.enabled && one.disabled_reason === null) continue
      all += 1
      if (one.failure_count === 0 && one.disabled_reason === null) continue
      failing += 1
      if (worst === null || one.failure_count > worst.failure_count) worst = one
    }
    const open = context.shell.globals.url ? '' : context.config().egressAllow
    const guard = open ? `the egress guard allows ${open}` : 'the egress guard blocks private addresses'
    if (worst) return warn(`${failing} of ${all} webhooks fail; ${guard}`, `svc-admin webhooks stats ${worst.id}`)
    const fine = all ? `none of ${all} webhooks fails` : 'no webhooks'
    return open ? warn(`${guard}; ${fine}`, 'unset SVC_EGRESS_ALLOW, in production') : ok(`${guard}; ${fine}`)
  },
}

const eachWebhook = (api: SharedRoutes) =>
  eachEntry(async (query) => {
    const { webhooks, next_cursor } = expectData(await api.webhooks.get({ query }))
    return { items: webhooks, next: next_cursor }
  })

/** Whether each active widget has a page that may show it, and a key that works. */
export const widgetsCheck: Check = {
  name: 'widget origins',
  asksServer: true,
  needs: ['database'],
  async run(context) {
    const api: SharedRoutes = (await context.connect()).ops()
    const live = new Map((await everyKey(api, { live: true })).map((key) => [key.id as string, key.allowed_origins]))
    const problems: { id: string; what: string; fix: string }[] = []
    let count = 0
    for await (const { id, name, status, api_key_id, security } of eachWidget(api)) {
      if (status !== 'active') continue
      count += 1
      const origins = live.get(api_key_id)
      if (!origins) problems.push({ id, what: `the key of widget "${name}" no longer works`, fix: `widgets get ${id}` })
      else if (!security.allowedOrigins.length && !origins.length)
        problems.push({
          id,
          what: `widget "${name}" has no origins, so no page can show it`,
          fix: `widgets update ${id} --origin https://YOUR-SITE`,
        })
    }
    if (!count) return skip('no active widgets')
    const [first] = problems
    if (!first) return ok(`${count} of ${count} active widgets have pages that can show them`)
    const more = problems.length > 1 ? `, and ${problems.length - 1} more` : ''
    return warn(`${first.what}${more}`, `svc-admin ${first.fix}`)
  },
}

const eachWidget = (api: SharedRoutes) =>
  eachEntry(async (query) => {
    const { configs, next_cursor } = expectData(await api.iframes.get({ query }))
    return { items: configs, next: next_cursor }
  })
