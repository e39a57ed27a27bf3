"""Deterministic simulation: a controller, its server and the network, in many runs.

    from kubeloop_testing import simulate

    @simulate(runs=200)
    async def test_sites_come_up_whatever_happens(world):
        world.run(make_manager)
        sites = world.client.resource(Website)
        await sites.create(site("shop"))
        await world.settle()
        assert (await sites.get("shop")).status.ready

Guarantees: the same run gives the same bytes on the network; a run that fails is shrunk to
the fewest faults and explains itself.
See also: docs/tutorial/find-the-bug.md, docs/reference/simulation.md.
"""
