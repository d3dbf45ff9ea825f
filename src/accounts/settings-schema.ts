import { oneOf, type Static, t } from '../kernel/schema'

const DEFAULT_MODES = ['auto', 'fast', 'think', 'code', 'research', 'image', 'video', 'roast'] as const

/** An account's preferences (contract 18.3). */
export const Settings = t.Object(
  {
    default_mode: oneOf(DEFAULT_MODES, { description: 'Mode of a request that sends none' }),
    personality: oneOf(['svc', 'none'] as const),
    timezone: t.String({ minLength: 1, maxLength: 64, description: 'IANA name, such as Europe/Lisbon' }),
    svc_branding: t.Boolean({ description: 'false strips persona, mascot and branded labels from replies' }),
  },
  { $id: 'Settings' },
)
export type Settings = Static<typeof Settings>

/** Any subset of the settings; members left out keep their value. */
export const SettingsPatch = t.Partial(Settings, { $id: 'SettingsPatch' })
export type SettingsPatch = Static<typeof SettingsPatch>

export const DEFAULT_SETTINGS: Settings = {
  default_mode: 'auto',
  personality: 'svc',
  timezone: 'UTC',
  svc_branding: true,
}
