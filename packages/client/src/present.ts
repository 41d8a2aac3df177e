/** Members that are undefined, left out: the wire knows absent members only. */

type MayMiss<Value> = { [Name in keyof Value]-?: undefined extends Value[Name] ? Name : never }[keyof Value];

type Present<Value> = Omit<Value, MayMiss<Value>> & {
  [Name in MayMiss<Value>]?: Exclude<Value[Name], undefined>;
};

export function present<Value extends object>(value: Value): Present<Value> {
  const kept: Partial<Value> = {};
  for (const name in value) if (value[name] !== undefined) kept[name] = value[name];
  return kept as Present<Value>;
}
