/** Settings: the preferences of an account, with defaults for whatever was never set. */
export { DEFAULT_SETTINGS, type Settings } from './schema'
export { createSettings, type SettingsService } from './service'
