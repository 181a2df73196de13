type Schemas = Readonly<Record<string, unknown>>;

export function settingFacts(properties: Schemas): Schemas;
export function withFacts(properties: Schemas): Schemas;
export function withRuleFacts(properties: Schemas): Schemas;
export function withEnvironmentFacts(properties: Schemas): Schemas;
