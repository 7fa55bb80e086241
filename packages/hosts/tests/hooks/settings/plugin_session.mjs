// Drives the plugin as OpenCode does; prints what each of its functions has done, and how long it took.
const { Errcompact } = await import(process.argv[2])
const hooks = await Errcompact({ directory: "/home/ann/shop" })
const steps = JSON.parse(process.argv[3])
const said = []
for (const [name, ...given] of steps) {
  const began = performance.now()
  let error
  try {
    await hooks[name](...given)
  } catch (thrown) {
    error = thrown.message
  }
  said.push({ name, error, output: given[1], ms: performance.now() - began })
}
console.log(JSON.stringify(said))
