import type { LanguageModelV4 } from '@ai-sdk/provider'

export const VENDORS = ['anthropic', 'google', 'openai'] as const
export type Vendor = (typeof VENDORS)[number]

export type VendorOptions = { baseURL?: string; apiKey: string; fetch: typeof fetch }

/** Makes a model of one vendor. `loadVendor` imports the package on first use, to keep start-up fast. */
type ModelOf = (options: VendorOptions, model: string) => LanguageModelV4

export const loadVendor: Record<Vendor, () => Promise<ModelOf>> = {
  anthropic: async () => {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return (options, model) => createAnthropic(options)(model)
  },
  google: async () => {
    const { createGoogle } = await import('@ai-sdk/google')
    return (options, model) => createGoogle(options)(model)
  },
  openai: async () => {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return (options, model) => createOpenAI(options)(model)
  },
}

/** Each vendor's own address, fetched only to probe whether the vendor is reachable. */
export const VENDOR_ORIGINS: Record<Vendor, string> = {
  anthropic: 'https://api.anthropic.com',
  google: 'https://generativelanguage.googleapis.com',
  openai: 'https://api.openai.com',
}
