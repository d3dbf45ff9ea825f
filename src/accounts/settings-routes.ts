import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checked } from '../kernel/schema'
import type { Store } from '../kernel/store'
import type { SettingsService } from './settings'
import { Settings, SettingsPatch } from './settings-schema'

/** `/settings` (docs/api.md 18.3). */
export const settingsRoutes = ({ settings, store }: { settings: SettingsService; store: Store }, guard: Guard) =>
  new Elysia({ prefix: '/settings', tags: ['Settings'] })
    .use(guard)
    .get('', async (context) => ({ ...(await settings.read(store.read, toCall(context).caller.userId)) }), {
      signedIn: true,
      response: { 200: answer(Settings), ...errors(401, 403, 429) },
      detail: { summary: 'Read your preferences' },
    })
    .patch('', (context) => settings.update(toCall(context), context.body), {
      signedIn: true,
      body: checked(SettingsPatch, { nulls: 'refused' }),
      response: { 200: answer(Settings), ...errors(400, 401, 403, 429) },
      detail: { summary: 'Change some of your preferences' },
    })
