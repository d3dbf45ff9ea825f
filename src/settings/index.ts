/** Settings: the preferences of an account, with defaults for everyone who never chose. */
export { DEFAULT_SETTINGS, type Settings } from './schema'
export { createSettings, type SettingsService } from './service'
