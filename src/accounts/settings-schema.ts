import { namedObject, oneOf, type Static, t } from '../kernel/schema'

const DEFAULT_MODES = ['auto', 'fast', 'think', 'code', 'research', 'image', 'video', 'roast'] as const

/** An account's preferences (docs/api.md 18.3). */
export const Settings = namedObject('Settings', {
  default_mode: oneOf(DEFAULT_MODES, { description: 'Mode of a request that sends none' }),
  personality: oneOf(['svc', 'none'] as const),
  timezone: t.String({ minLength: 1, maxLength: 64, description: 'IANA name, such as Europe/Lisbon' }),
  svc_branding: t.Boolean({ description: 'false strips persona, mascot and branded labels from replies' }),
  keep_bodies: t.Boolean({
    description: 'Store the requests and answers of your calls; only where the operator allows it (SVC_TRACE_BODIES)',
  }),
  keep_bodies_days: t.Integer({ minimum: 1, maximum: 30 }),
  shortcuts: t.Boolean({ description: 'Single keys do something in the console' }),
})
export type Settings = Static<typeof Settings>

/** Any subset of the settings. Omitted members keep their value. */
export const SettingsPatch = t.Partial(Settings, { $id: 'SettingsPatch' })
export type SettingsPatch = Static<typeof SettingsPatch>

export const DEFAULT_SETTINGS: Settings = {
  default_mode: 'auto',
  personality: 'svc',
  timezone: 'UTC',
  svc_branding: true,
  keep_bodies: false,
  keep_bodies_days: 7,
  shortcuts: true,
}
