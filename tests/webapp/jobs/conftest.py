from tests.webapp.payments.conftest import hit, pay_rewards, platform, worked  # noqa: F401
