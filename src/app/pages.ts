import { Elysia } from 'elysia'
import { assertOwnPage } from '../auth'
import type { Guard } from '../http/guard'
import { assetRoutes } from '../pages/routes'
import { accountPageRoutes } from '../pages/routes-accounts'
import { createEntering } from '../pages/routes-entering'
import { homeRoutes } from '../pages/routes-home'
import type { Config } from './config'
import type { Container } from './container'

type Deps = { config: Config; container: Container; guard: Guard; ownOrigin: string | null }

const MOST_KEYS = 100

/** Everything that people see in a browser, with what each page needs of the rooms. */
export function pageRoutes({ config, container, guard, ownOrigin }: Deps) {
  const { auth, usageReading, keys, limiter, assets } = container
  const entering = createEntering({
    authenticate: container.authenticate,
    assertOwnPage: (headers) => assertOwnPage(headers, ownOrigin),
    admit: limiter.admitRequest,
  })
  return new Elysia()
    .use(assetRoutes(assets, guard))
    .use(
      accountPageRoutes(
        { auth, entering, secure: config.publicUrl.startsWith('https://'), signUp: config.signup === 'open' },
        guard,
      ),
    )
    .use(
      homeRoutes(
        {
          entering,
          me: auth.me,
          usage: (call) => usageReading.report(call, {}),
          keys: (call) => keys.list(call, { limit: MOST_KEYS }),
          makeKey: (call, name) => keys.create(call, { name }),
          widgets: null,
        },
        guard,
      ),
    )
}
